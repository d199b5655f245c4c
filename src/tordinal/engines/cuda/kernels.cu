// The CUDA kernels of tordinal: kernel values, products with them, and steps of SMO.
//
// VALUE, the type of a stored kernel value, is defined when this file is compiled. Everything that
// is summed is a double, and every sum has a fixed order: the same input gives the same bits. No
// header is needed. The tests compile the same file for the CPU, with blocks of one thread.

typedef long long i64;

#ifndef LANES
#define LANES 32              // threads of a warp
#define SIDE 16               // threads along one side of a tile of kernel values
#define PAUSE
#define UNROLL _Pragma("unroll")
#define UNROLL_BY_FOUR _Pragma("unroll 4")
#define NOINLINE __noinline__
#define DYNAMIC_SHARED(name) extern __shared__ double name[]
#endif

#define MOST_WARPS 32
#define ROWS_AT_A_TIME 4      // of a product: v is read once for all of them
#define TILE 64               // rows and columns of kernel values computed by one block
#define DEPTH 16              // features that a block holds at a time
#define GROUPS 8              // of records, each of which offers a row to raise and one to lower
#define WORKING (2 * GROUPS)  // variables on which steps are taken between two waits
#define WIDE (LANES < WORKING ? LANES : WORKING)
// Most steps between two waits, and the share of the first violation at which they end: more steps,
// or more waits; benchmarks cuda.
#define INNER_STEPS 8
#define INNER_SHARE 0.5
#define INF __longlong_as_double(0x7ff0000000000000LL)
#define TAU 1e-12             // least curvature of a pair, for kernels that are not positive definite

// Kernel values -----------------------------------------------------------------------------------

enum Pairwise { PRODUCT, SQUARED_DISTANCE, MANHATTAN };
enum Function { IDENTITY, NEGATIVE_ROOT, EXPONENTIAL, POWER };

// The sums over features of a tile, each thread those of a few pairs of rows.
template <int PAIRWISE>
__device__ void add_up(
    const double* X, int n, int d, int row, int column, double (*A)[TILE + 1], double (*B)[TILE + 1],
    double (&total)[TILE / SIDE][TILE / SIDE])
{
    const int PER = TILE / SIDE, ty = threadIdx.x / SIDE, tx = threadIdx.x % SIDE;
    for (int start = 0; start < d; start += DEPTH) {
        for (int e = threadIdx.x; e < TILE * DEPTH; e += blockDim.x) {
            const int p = e / DEPTH, f = e % DEPTH;
            const bool inside = start + f < d;
            A[f][p] = inside && row + p < n ? X[(i64)(row + p) * d + start + f] : 0.0;
            B[f][p] = inside && column + p < n ? X[(i64)(column + p) * d + start + f] : 0.0;
        }
        __syncthreads();
        for (int f = 0; f < DEPTH; f++) {
            double x[PER], z[PER];
            UNROLL
            for (int a = 0; a < PER; a++) x[a] = A[f][ty + SIDE * a];
            UNROLL
            for (int b = 0; b < PER; b++) z[b] = B[f][tx + SIDE * b];
            UNROLL
            for (int a = 0; a < PER; a++)
                UNROLL
                for (int b = 0; b < PER; b++) {
                    const double apart = x[a] - z[b];
                    if (PAIRWISE == PRODUCT) total[a][b] += x[a] * z[b];
                    else if (PAIRWISE == SQUARED_DISTANCE) total[a][b] += apart * apart;
                    else total[a][b] += fabs(apart);
                }
        }
        __syncthreads();
    }
}

// Not inlined: sixteen copies would take the compiler half a minute.
__device__ NOINLINE double kernel_of(
    double v, int function, double gamma, double coef0, double degree)
{
    if (function == NEGATIVE_ROOT) return -sqrt(v);
    if (function == EXPONENTIAL) return exp(-gamma * v);
    if (function == POWER) return pow(gamma * v + coef0, degree);
    return v;
}

// K[i][j] = (k(x_i, x_j) - offset_i - offset_j) / scale. A block computes tiles of the upper
// triangle and writes each twice.
extern "C" __global__ void kernel_values(
    const double* X, int n, int d, int pairwise, int function, double gamma, double coef0,
    double degree, const double* offset, double scale, VALUE* K, int* not_finite)
{
    const int PER = TILE / SIDE, ty = threadIdx.x / SIDE, tx = threadIdx.x % SIDE;
    __shared__ double A[DEPTH][TILE + 1], B[DEPTH][TILE + 1];
    const i64 tiles = (n + TILE - 1) / TILE;
    for (i64 tile = blockIdx.x; tile < tiles * tiles; tile += gridDim.x) {
        const int row = (int)(tile / tiles) * TILE, column = (int)(tile % tiles) * TILE;
        if (row > column) continue;
        double total[PER][PER];
        UNROLL
        for (int a = 0; a < PER; a++)
            UNROLL
            for (int b = 0; b < PER; b++) total[a][b] = 0.0;
        if (pairwise == PRODUCT) add_up<PRODUCT>(X, n, d, row, column, A, B, total);
        else if (pairwise == MANHATTAN) add_up<MANHATTAN>(X, n, d, row, column, A, B, total);
        else add_up<SQUARED_DISTANCE>(X, n, d, row, column, A, B, total);
        UNROLL
        for (int a = 0; a < PER; a++)
            UNROLL
            for (int b = 0; b < PER; b++) {
                const int i = row + ty + SIDE * a, j = column + tx + SIDE * b;
                if (i >= n || j >= n || i > j) continue;
                double v = kernel_of(total[a][b], function, gamma, coef0, degree);
                if (offset) v = v - offset[i] - offset[j];
                v /= scale;
                if (!(fabs((double)(VALUE)v) < INF)) *not_finite = 1;
                K[(i64)i * n + j] = (VALUE)v;
                K[(i64)j * n + i] = (VALUE)v;
            }
    }
}

// Products ----------------------------------------------------------------------------------------

__device__ double sum_of_warp(double value)
{
    for (int apart = LANES / 2; apart > 0; apart /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, apart);
    return value;
}

// out = K v. A block computes a few rows at a time.
extern "C" __global__ void times(const VALUE* K, int n, const double* v, double* out)
{
    __shared__ double parts[ROWS_AT_A_TIME][MOST_WARPS];
    const int warps = blockDim.x / LANES;
    for (int start = blockIdx.x * ROWS_AT_A_TIME; start < n; start += gridDim.x * ROWS_AT_A_TIME) {
        double total[ROWS_AT_A_TIME];
        UNROLL
        for (int q = 0; q < ROWS_AT_A_TIME; q++) total[q] = 0.0;
        for (int j = threadIdx.x; j < n; j += blockDim.x)
            UNROLL
            for (int q = 0; q < ROWS_AT_A_TIME; q++)
                if (start + q < n) total[q] += (double)K[(i64)(start + q) * n + j] * v[j];
        UNROLL
        for (int q = 0; q < ROWS_AT_A_TIME; q++) {
            const double sum = sum_of_warp(total[q]);
            if (threadIdx.x % LANES == 0) parts[q][threadIdx.x / LANES] = sum;
        }
        __syncthreads();
        for (int q = threadIdx.x; q < ROWS_AT_A_TIME && start + q < n; q += blockDim.x) {
            double sum = 0.0;
            for (int w = 0; w < warps; w++) sum += parts[q][w];
            out[start + q] = sum;
        }
        __syncthreads();
    }
}

// out = base + the combination of some rows of K.
extern "C" __global__ void combine(
    const VALUE* K, int n, const int* index, const double* coefficients, int count,
    const double* base, double* out)
{
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < n; p += gridDim.x * blockDim.x) {
        double total = base[p];
        for (int q = 0; q < count; q++) total += coefficients[q] * (double)K[(i64)index[q] * n + p];
        out[p] = total;
    }
}

// The objective and its dual ----------------------------------------------------------------------

// Sums over rows, a line of `parts` per block: a'h, the losses, |a|, a'a, and s'beta.
extern "C" __global__ void row_sums(
    int n, int m, const int* y, const double* cost, const double* h, const double* beta,
    const double* t, const int* first, const int* last, double low, double high, double kink,
    double* parts)
{
    __shared__ double of_warps[5][MOST_WARPS];
    double sums[5] = {0.0, 0.0, 0.0, 0.0, 0.0};
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < n; p += gridDim.x * blockDim.x) {
        double a = 0.0, loss = 0.0, signed_sum = 0.0;
        for (int k = 0; k < m; k++) {
            const double b = beta[(i64)p * m + k], s = y[p] > k ? 1.0 : -1.0;
            a += b;
            signed_sum += s * b;
            if (cost[p] > 0.0 && first[y[p]] <= k && k < last[y[p]]) {
                const double shortfall = kink - s * (h[p] - t[k]);
                loss += shortfall > 0.0 ? high * shortfall : low * shortfall;
            }
        }
        sums[0] += a * h[p];
        sums[1] += cost[p] * loss;
        sums[2] += fabs(a);
        sums[3] += a * a;
        sums[4] += signed_sum;
    }
    for (int q = 0; q < 5; q++) {
        const double sum = sum_of_warp(sums[q]);
        if (threadIdx.x % LANES == 0) of_warps[q][threadIdx.x / LANES] = sum;
    }
    __syncthreads();
    for (int q = threadIdx.x; q < 5; q += blockDim.x) {
        double sum = 0.0;
        for (int w = 0; w < (int)blockDim.x / LANES; w++) sum += of_warps[q][w];
        parts[blockIdx.x * 5 + q] = sum;
    }
}

// Steps of SMO ------------------------------------------------------------------------------------

// What a thread, a warp or a block has found: the least score, of ties the first row.
struct Best {
    double score;
    int row;
    int at;  // a threshold, or the number of a record
};

__device__ void keep(Best& best, double score, int row, int at)
{
    if (score < best.score || (score == best.score && row < best.row)) {
        best.score = score;
        best.row = row;
        best.at = at;
    }
}

__device__ Best best_of_warp(Best mine, int lanes)
{
    for (int apart = lanes / 2; apart > 0; apart /= 2) {
        const double score = __shfl_xor_sync(0xffffffffu, mine.score, apart);
        const int row = __shfl_xor_sync(0xffffffffu, mine.row, apart);
        const int at = __shfl_xor_sync(0xffffffffu, mine.at, apart);
        keep(mine, score, row, at);
    }
    return mine;
}

// The variables on which a block takes steps between two waits; all blocks hold the same.
struct WorkingSet {
    int at[WORKING];          // a record, or -1
    int row[WORKING], k[WORKING];
    double g[WORKING];        // gradient
    double up[WORKING], down[WORKING];  // how far the variable can move
    double moved[WORKING];
    double K[WORKING][WORKING];
    int changed[WORKING], n_changed;  // entries that moved
    int steps;
    double room;              // how far all steps of a pair of thresholds can move

    __device__ double curvature(int v, int w, double r) const
    {
        const double q = K[v][v] + K[w][w] - 2.0 * K[v][w] + (k[v] == k[w] ? 0.0 : 2.0 * r);
        return q > TAU ? q : TAU;
    }
};

// Steps on pairs of the working set, by one warp: the variable with the least gradient is raised,
// and of the others that which gains most (second order) is lowered.
__device__ void solve_working_set(
    WorkingSet& set, double goal, int most_steps, double r, int raised, int lowered)
{
    const int begin = threadIdx.x % WIDE;
    double room = set.room, enough = goal;
    int steps = 0;
    while (steps < most_steps && room > 0.0) {
        Best up = {INF, 0x7fffffff, 0}, low = {INF, 0x7fffffff, 0};
        for (int v = begin; v < WORKING; v += WIDE) {
            if (set.up[v] > 0.0 && (raised < 0 || set.k[v] == raised)) keep(up, set.g[v], v, 0);
            if (set.down[v] > 0.0 && (raised < 0 || set.k[v] == lowered)) keep(low, -set.g[v], v, 0);
        }
        up = best_of_warp(up, WIDE);
        low = best_of_warp(low, WIDE);
        const double violation = -low.score - up.score;
        if (steps == 0 && INNER_SHARE * violation > goal) enough = INNER_SHARE * violation;
        if (!(violation > (steps ? enough : goal))) break;
        const int i = up.row;
        Best partner = {INF, 0x7fffffff, 0};
        for (int v = begin; v < WORKING; v += WIDE) {
            const double b = set.g[v] - up.score;
            if (!(b > 0.0) || !(set.down[v] > 0.0) || (raised >= 0 && set.k[v] != lowered)) continue;
            keep(partner, -b * (b / set.curvature(i, v, r)), v, 0);
        }
        partner = best_of_warp(partner, WIDE);
        const int j = partner.row, k = set.k[i], l = set.k[j];
        const double up_room = set.up[i], low_room = set.down[j];
        double step = (set.g[j] - up.score) / set.curvature(i, j, r);
        step = up_room < step ? up_room : step;
        step = low_room < step ? low_room : step;
        step = room < step ? room : step;
        __syncwarp();
        for (int v = begin; v < WORKING; v += WIDE) {
            if ((int)threadIdx.x >= WIDE) continue;  // lanes beyond the set mirror the others
            const int sides = (set.k[v] == k) - (set.k[v] == l);
            set.g[v] += step * (set.K[i][v] - set.K[j][v]) + r * step * sides;
            if (v == i) {
                set.up[v] = step == up_room ? 0.0 : set.up[v] - step;
                set.down[v] += step;
                set.moved[v] += step;
            }
            if (v == j) {
                set.down[v] = step == low_room ? 0.0 : set.down[v] - step;
                set.up[v] += step;
                set.moved[v] -= step;
            }
        }
        if (raised >= 0 && raised < lowered) room -= step;
        steps++;
        __syncwarp();
    }
    for (int v = begin; v < WORKING; v += WIDE) {
        int place = 0, count = 0;
        for (int u = 0; u < WORKING; u++) {
            const int did = set.moved[u] != 0.0;
            place += did && u < v;
            count += did;
        }
        if (set.moved[v] != 0.0 && (int)threadIdx.x < WIDE) set.changed[place] = v;
        if (threadIdx.x == 0) set.n_changed = count;
    }
    if (threadIdx.x == 0) {
        set.steps = steps;
        set.room = room;
    }
}

// Wait for all blocks. They run at the same time, which the launch as a cooperative kernel ensures.
__device__ void wait_for_all(unsigned* arrived, unsigned& turn)
{
    __syncthreads();
    if (gridDim.x > 1) {
        if (threadIdx.x == 0) {
            turn += gridDim.x;
            __threadfence();
            atomicAdd(arrived, 1u);
            while ((int)(*(volatile unsigned*)arrived - turn) < 0) PAUSE;
            __threadfence();
        }
        __syncthreads();
    }
}

// The rows and variables of a training, and the rows that a thread looks after.
struct Rows {
    int n, m, begin, hop;
    const int* y;
    const double *cost, *h, *rc;  // rc: in shared memory
    const unsigned *rise, *fall;  // bit k of word k / 32: whether beta_ik is below its upper bound,
    double kink;                  // and above its lower one

    __device__ bool bit(const unsigned* masks, int p, int k) const
    {
        return masks[(i64)(k >> 5) * n + p] >> (k & 31) & 1u;
    }
    __device__ double offset(int rank, int k) const
    {
        return rc[k] - (rank > k ? kink : -kink);
    }
    __device__ double gradient(int p, int k) const { return h[p] + offset(y[p], k); }
};

// The least gradient of a variable that can rise and the largest of one that can fall, for each
// threshold; in shared memory.
__device__ void threshold_extremes(
    const Rows& rows, double* least, double* most, double* of_blocks, unsigned* arrived,
    unsigned& turn)
{
    __shared__ double edges[2][MOST_WARPS];
    const int m = rows.m, lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    for (int k = 0; k < m; k++) {
        double low = INF, high = -INF;
        for (int p = rows.begin; p < rows.n; p += rows.hop) {
            const double g = rows.gradient(p, k);
            if (rows.bit(rows.rise, p, k) && g < low) low = g;
            if (rows.bit(rows.fall, p, k) && g > high) high = g;
        }
        for (int apart = LANES / 2; apart > 0; apart /= 2) {
            const double other = __shfl_xor_sync(0xffffffffu, low, apart);
            const double over = __shfl_xor_sync(0xffffffffu, high, apart);
            low = other < low ? other : low;
            high = over > high ? over : high;
        }
        if (lane == 0) {
            edges[0][warp] = low;
            edges[1][warp] = high;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < (int)blockDim.x / LANES; w++) {
                low = edges[0][w] < low ? edges[0][w] : low;
                high = edges[1][w] > high ? edges[1][w] : high;
            }
            of_blocks[(i64)blockIdx.x * 2 * m + k] = low;
            of_blocks[(i64)blockIdx.x * 2 * m + m + k] = high;
        }
        __syncthreads();
    }
    wait_for_all(arrived, turn);
    for (int k = threadIdx.x; k < m; k += blockDim.x) {
        double low = INF, high = -INF;
        for (int b = 0; b < (int)gridDim.x; b++) {
            const double one = __ldcg(of_blocks + (i64)b * 2 * m + k);
            const double two = __ldcg(of_blocks + (i64)b * 2 * m + m + k);
            low = one < low ? one : low;
            high = two > high ? two : high;
        }
        least[k] = low;
        most[k] = high;
    }
    __syncthreads();
}

// The bounds of a variable.
struct Box {
    double lower, upper;
    __device__ Box(int y, int k, double cost, int first, int last, double low, double high)
    {
        lower = upper = 0.0;
        if (first <= k && k < last) {
            lower = (y > k ? low : -high) * cost;
            upper = (y > k ? high : -low) * cost;
        }
    }
};

// Steps on two variables at a time, until the violation is at most `tol` or `most_steps` are taken.
//
// One round, of all blocks: every thread adds the last changes to h of its rows and finds the
// variable of them to raise and the one to lower; every warp publishes its two best. All blocks
// wait for each other once. Then every block reads the same records, chooses the same working set,
// the best of each group of records, and takes the same steps on it.
//
// The rows of thread p are p, p + hop, ...; only its block writes h, beta and the masks of a row.
// Records are double-buffered, so that one wait per round is enough.
extern "C" __global__ void take_steps(
    const VALUE* __restrict__ K, const double* __restrict__ diagonal, int n, int m,
    const int* __restrict__ y, const double* __restrict__ cost, const int* __restrict__ first,
    const int* __restrict__ last, double low_bound, double high_bound, double kink, double r,
    double* h, double* beta, double* c, unsigned* masks, int raised, int lowered, double room,
    const unsigned char* allowed, double pair_share, double tol, int most_steps, double* records,
    int* places, double* of_blocks, unsigned* arrived, double* out)
{
    DYNAMIC_SHARED(shared);
    double *c_here = shared, *rc = shared + m, *least = shared + 2 * m, *most = shared + 3 * m;
    __shared__ WorkingSet set;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    const int n_records = gridDim.x * warps, words = (m + 31) / 32;
    unsigned *rise = masks, *fall = masks + (i64)words * n, turn = 0;
    const Rows rows = {n, m, (int)(blockIdx.x * blockDim.x + threadIdx.x),
                       (int)(gridDim.x * blockDim.x), y, cost, h, rc, rise, fall, kink};
    for (int k = threadIdx.x; k < m; k += blockDim.x) {
        c_here[k] = c[k];
        rc[k] = r * c[k];
    }
    if (threadIdx.x == 0) {
        set.n_changed = 0;
        set.room = room;
    }
    for (int p = rows.begin; p < n; p += rows.hop)
        for (int w = 0; w < words; w++) {
            unsigned up = 0u, down = 0u;
            for (int k = 32 * w; k < m && k < 32 * w + 32; k++) {
                const Box box(y[p], k, cost[p], first[y[p]], last[y[p]], low_bound, high_bound);
                const double b = beta[(i64)p * m + k];
                if (b < box.upper) up |= 1u << (k & 31);
                if (b > box.lower) down |= 1u << (k & 31);
            }
            rise[(i64)w * n + p] = up;
            fall[(i64)w * n + p] = down;
        }
    __syncthreads();

    const bool by_pairs = allowed != 0;
    bool choose = by_pairs, known = false;
    int steps = 0, before = -1, parity = 0;
    double goal = tol;
    while (true) {
        if (choose) {  // the worst pair of thresholds of those allowed
            threshold_extremes(rows, least, most, of_blocks, arrived, turn);
            double worst = -INF;
            for (int k = 0; k < m; k++)
                for (int l = 0; l < m; l++)
                    if (allowed[k * m + l] && most[l] - least[k] > worst) {
                        worst = most[l] - least[k];
                        raised = k;
                        lowered = l;
                    }
            known = true;
            if (!(worst > tol) || steps == before) break;
            known = choose = false;
            before = steps;
            goal = pair_share * worst > tol ? pair_share * worst : tol;
        }
        // Update h, and find candidates.
        const int n_changed = set.n_changed;
        Best up = {INF, 0x7fffffff, 0}, low = {INF, 0x7fffffff, 0};
        for (int p = rows.begin; p < n; p += rows.hop) {
            double at = h[p];
            if (n_changed) {
                double change = 0.0;
                UNROLL_BY_FOUR
                for (int q = 0; q < n_changed; q++) {
                    const int v = set.changed[q];
                    change += set.moved[v] * (double)K[(i64)set.row[v] * n + p];
                }
                at += change;
                h[p] = at;
            }
            const int rank = y[p];
            double to_raise = INF, to_lower = -INF;
            int at_up = raised, at_low = lowered;
            if (raised >= 0) {
                if (rows.bit(rise, p, raised)) to_raise = at + rows.offset(rank, raised);
                if (rows.bit(fall, p, lowered)) to_lower = at + rows.offset(rank, lowered);
            } else
                for (int w = 0; w < words; w++) {
                    const unsigned can_rise = rise[(i64)w * n + p], can_fall = fall[(i64)w * n + p];
                    const int end = m < 32 * w + 32 ? m : 32 * w + 32;
                    for (int k = 32 * w; k < end; k++) {
                        const double g = at + rows.offset(rank, k);
                        if ((can_rise >> (k & 31) & 1u) && g < to_raise) to_raise = g, at_up = k;
                        if ((can_fall >> (k & 31) & 1u) && g > to_lower) to_lower = g, at_low = k;
                    }
                }
            keep(up, to_raise, p, at_up);
            keep(low, -to_lower, p, at_low);
        }
        up = best_of_warp(up, LANES);
        low = best_of_warp(low, LANES);
        const i64 all = 2 * (i64)n_records;
        double* values = records + (i64)parity * n_records;
        int* where = places + (i64)parity * n_records;
        parity = 1 - parity;
        if (lane == 0)  // publish them, and how far they can move
            for (int side = 0; side < 2; side++) {
                const Best found = side ? low : up;
                const i64 q = blockIdx.x * warps + warp;
                double up_room = 0.0, down_room = 0.0;
                if (found.score < INF) {
                    const int rank = y[found.row];
                    const Box box(rank, found.at, cost[found.row], first[rank], last[rank],
                                  low_bound, high_bound);
                    const double b = beta[(i64)found.row * m + found.at];
                    up_room = box.upper - b;
                    down_room = b - box.lower;
                }
                values[(3 * side) * all + q] = found.score;
                values[(3 * side + 1) * all + q] = up_room;
                values[(3 * side + 2) * all + q] = down_room;
                where[(2 * side) * all + q] = found.row;
                where[(2 * side + 1) * all + q] = found.at;
            }
        wait_for_all(arrived, turn);
        // The working set: the best to raise and the best to lower of each group.
        const int share = (n_records + GROUPS - 1) / GROUPS;
        for (int group = warp; group < GROUPS; group += warps) {
            const int end = (group + 1) * share < n_records ? (group + 1) * share : n_records;
            up.score = low.score = INF;
            up.row = low.row = 0x7fffffff;
            up.at = low.at = -1;
            UNROLL_BY_FOUR
            for (int q = group * share + lane; q < end; q += LANES) {
                keep(up, __ldcg(values + q), __ldcg(where + q), q);
                keep(low, __ldcg(values + 3 * all + q), __ldcg(where + 2 * all + q), q);
            }
            up = best_of_warp(up, LANES);
            low = best_of_warp(low, LANES);
            if (lane == 0) {
                set.at[group] = up.score < INF ? up.at : -1;
                set.at[GROUPS + group] = low.score < INF ? low.at : -1;
                set.row[group] = up.row;
                set.row[GROUPS + group] = low.row;
                set.g[group] = up.score;
                set.g[GROUPS + group] = -low.score;
            }
        }
        __syncthreads();
        for (int e = threadIdx.x; e < WORKING * WORKING; e += blockDim.x) {
            const int v = e / WORKING, w = e % WORKING, i = set.row[v], j = set.row[w];
            if (set.at[v] < 0 || set.at[w] < 0) continue;
            set.K[v][w] = i == j ? diagonal[i] : (double)K[(i64)i * n + j];
        }
        for (int v = threadIdx.x; v < WORKING; v += blockDim.x) {
            const int side = v / GROUPS, q = set.at[v];
            set.moved[v] = set.up[v] = set.down[v] = 0.0;
            set.k[v] = -1;
            if (q < 0) continue;
            set.k[v] = __ldcg(where + (2 * side + 1) * all + q);
            // A variable that can move both ways is one entry, not two.
            const bool twice = side && set.at[v - GROUPS] == q && set.row[v - GROUPS] == set.row[v] &&
                               __ldcg(where + all + q) == set.k[v];
            if (twice) continue;
            set.up[v] = __ldcg(values + (3 * side + 1) * all + q);
            set.down[v] = __ldcg(values + (3 * side + 2) * all + q);
        }
        __syncthreads();
        if (warp == 0) {
            const int left = most_steps - steps;
            solve_working_set(
                set, goal, left < INNER_STEPS ? left : INNER_STEPS, r, raised, lowered);
        }
        __syncthreads();
        if (set.steps == 0) {
            if (!by_pairs || steps >= most_steps) break;
            choose = true;
            continue;
        }
        steps += set.steps;
        for (int k = threadIdx.x; k < m; k += blockDim.x) {
            double change = 0.0;
            for (int v = 0; v < WORKING; v++)
                if (set.k[v] == k) change += set.moved[v];
            c_here[k] += change;
            rc[k] = r * c_here[k];
        }
        for (int q = threadIdx.x; q < set.n_changed; q += blockDim.x) {
            const int p = set.row[set.changed[q]];
            if (p % rows.hop / (int)blockDim.x != (int)blockIdx.x) continue;
            bool earlier = false;  // the first entry of a row writes them all
            for (int e = 0; e < q; e++) earlier = earlier || set.row[set.changed[e]] == p;
            for (int e = q; e < set.n_changed && !earlier; e++) {
                const int v = set.changed[e], k = set.k[v];
                if (set.row[v] != p) continue;
                const Box box(y[p], k, cost[p], first[y[p]], last[y[p]], low_bound, high_bound);
                double b = beta[(i64)p * m + k] + set.moved[v];
                if (set.up[v] == 0.0) b = box.upper;
                if (set.down[v] == 0.0) b = box.lower;
                beta[(i64)p * m + k] = b;
                const i64 word = (i64)(k >> 5) * n + p;
                const unsigned bit = 1u << (k & 31);
                rise[word] = b < box.upper ? rise[word] | bit : rise[word] & ~bit;
                fall[word] = b > box.lower ? fall[word] | bit : fall[word] & ~bit;
            }
        }
        __syncthreads();
    }
    if (!known) threshold_extremes(rows, least, most, of_blocks, arrived, turn);
    if (blockIdx.x == 0)
        for (int k = threadIdx.x; k < m; k += blockDim.x) {
            c[k] = c_here[k];
            out[1 + k] = least[k];
            out[1 + m + k] = most[k];
            out[1 + 2 * m + k] = c_here[k];
        }
    if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = steps;
}
