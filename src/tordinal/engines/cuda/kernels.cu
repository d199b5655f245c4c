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
#define NOINLINE __noinline__
#define DYNAMIC_SHARED(name) extern __shared__ double name[]
#endif

#define MOST_WARPS 32
#define ROWS_AT_A_TIME 4      // of a product: v is read once for all of them
#define TILE 64               // rows and columns of kernel values computed by one block
#define DEPTH 16              // features that a block holds at a time
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

// The best of all warps, for every thread, once each warp has stored its own and all have waited.
__device__ Best best_of_block(const Best* of_warps)
{
    const int lane = threadIdx.x % LANES, warps = blockDim.x / LANES;
    Best mine = {INF, 0x7fffffff, 0};
    for (int w = lane; w < warps; w += LANES)
        keep(mine, of_warps[w].score, of_warps[w].row, of_warps[w].at);
    return best_of_warp(mine, LANES);
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
    __device__ double gradient(int p, int k) const
    {
        return h[p] + (rc[k] - (y[p] > k ? kink : -kink));
    }
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
// One step, of all blocks: every thread adds the last change to h of its rows and finds the
// variable of them to raise and the one to lower; every warp publishes its two best. All blocks
// wait for each other once. Then every block finds for itself the variable to raise, and the
// partner among the published ones that gains most (second order), and computes the same step.
//
// The row of thread p is p, p + hop, ...; nobody else writes h, beta and the masks of that row.
// Records are double-buffered, so that one wait per step is enough.
extern "C" __global__ void take_steps(
    const VALUE* K, const double* diagonal, int n, int m, const int* y, const double* cost,
    const int* first, const int* last, double low_bound, double high_bound, double kink, double r,
    double* h, double* beta, double* c, unsigned* masks, int raised, int lowered, double room,
    const unsigned char* allowed, double pair_share, double tol, int most_steps, double* records,
    int* places, double* of_blocks, unsigned* arrived, double* out)
{
    DYNAMIC_SHARED(shared);
    double *c_here = shared, *rc = shared + m, *least = shared + 2 * m, *most = shared + 3 * m;
    __shared__ Best ups[MOST_WARPS], lows[MOST_WARPS], partners[MOST_WARPS];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    const int n_records = gridDim.x * warps, words = (m + 31) / 32;
    unsigned *rise = masks, *fall = masks + (i64)words * n, turn = 0;
    const Rows rows = {n, m, (int)(blockIdx.x * blockDim.x + threadIdx.x),
                       (int)(gridDim.x * blockDim.x), y, cost, h, rc, rise, fall, kink};
    for (int k = threadIdx.x; k < m; k += blockDim.x) {
        c_here[k] = c[k];
        rc[k] = r * c[k];
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
    int steps = 0, before = -1, parity = 0, i = 0, j = 0;
    double change = 0.0, goal = tol;
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
        Best up = {INF, 0x7fffffff, 0}, low = {INF, 0x7fffffff, 0};
        for (int p = rows.begin; p < n; p += rows.hop) {
            if (change != 0.0)
                h[p] += change * ((double)K[(i64)i * n + p] - (double)K[(i64)j * n + p]);
            double to_raise = INF, to_lower = -INF;
            int at_up = 0, at_low = 0;
            if (raised >= 0) {
                if (rows.bit(rise, p, raised)) to_raise = rows.gradient(p, raised);
                if (rows.bit(fall, p, lowered)) to_lower = rows.gradient(p, lowered);
                at_up = raised;
                at_low = lowered;
            } else {
                const int rank = y[p];
                const double at = h[p];
                for (int w = 0; w < words; w++) {
                    const unsigned can_rise = rise[(i64)w * n + p], can_fall = fall[(i64)w * n + p];
                    const int end = m < 32 * w + 32 ? m : 32 * w + 32;
                    for (int k = 32 * w; k < end; k++) {
                        const double g = at + (rc[k] - (rank > k ? kink : -kink));
                        if ((can_rise >> (k & 31) & 1u) && g < to_raise) to_raise = g, at_up = k;
                        if ((can_fall >> (k & 31) & 1u) && g > to_lower) to_lower = g, at_low = k;
                    }
                }
            }
            keep(up, to_raise, p, at_up);
            keep(low, -to_lower, p, at_low);
        }
        change = 0.0;
        up = best_of_warp(up, LANES);
        low = best_of_warp(low, LANES);
        if (lane == 0) {  // publish them, and how far they can move
            const i64 at = (i64)parity * n_records + blockIdx.x * warps + warp;
            double up_room = 0.0, low_room = 0.0;
            if (up.score < INF) {
                const int rank = y[up.row];
                const Box box(rank, up.at, cost[up.row], first[rank], last[rank], low_bound, high_bound);
                up_room = box.upper - beta[(i64)up.row * m + up.at];
            }
            if (low.score < INF) {
                const int rank = y[low.row];
                const Box box(rank, low.at, cost[low.row], first[rank], last[rank], low_bound, high_bound);
                low_room = beta[(i64)low.row * m + low.at] - box.lower;
            }
            const i64 all = 2 * (i64)n_records;
            records[at] = up.score;
            records[all + at] = up_room;
            records[2 * all + at] = low.score;
            records[3 * all + at] = low_room;
            places[at] = up.row;
            places[all + at] = up.at;
            places[2 * all + at] = low.row;
            places[3 * all + at] = low.at;
        }
        wait_for_all(arrived, turn);
        const i64 all = 2 * (i64)n_records;
        const double* values = records + (i64)parity * n_records;
        const int* where = places + (i64)parity * n_records;
        parity = 1 - parity;
        // Which variable to raise, and whether any pair violates the conditions.
        up.score = low.score = INF;
        up.row = low.row = 0x7fffffff;
        for (int q = threadIdx.x; q < n_records; q += blockDim.x) {
            keep(up, __ldcg(values + q), __ldcg(where + q), q);
            keep(low, __ldcg(values + 2 * all + q), __ldcg(where + 2 * all + q), q);
        }
        up = best_of_warp(up, LANES);
        low = best_of_warp(low, LANES);
        if (lane == 0) {
            ups[warp] = up;
            lows[warp] = low;
        }
        __syncthreads();
        up = best_of_block(ups);
        low = best_of_block(lows);
        const double violation = -low.score - up.score;
        if (!(violation > goal) || steps >= most_steps || !(room > 0.0)) {
            if (!by_pairs || steps >= most_steps) break;
            choose = true;
            continue;
        }
        i = up.row;
        const int k = __ldcg(where + all + up.at);
        const double up_room = __ldcg(values + all + up.at);
        // The partner that gains most.
        Best partner = {INF, 0x7fffffff, 0};
        for (int q = threadIdx.x; q < n_records; q += blockDim.x) {
            const double b = -__ldcg(values + 2 * all + q) - up.score;
            if (!(b > 0.0 && b < INF)) continue;
            const int row = __ldcg(where + 2 * all + q);
            const double of_rows =
                row == i ? 0.0 : diagonal[i] + diagonal[row] - 2.0 * (double)K[(i64)i * n + row];
            const double q_pair = of_rows + (k == __ldcg(where + 3 * all + q) ? 0.0 : 2.0 * r);
            keep(partner, -b * (b / (q_pair > TAU ? q_pair : TAU)), row, q);
        }
        partner = best_of_warp(partner, LANES);
        if (lane == 0) partners[warp] = partner;
        __syncthreads();
        partner = best_of_block(partners);
        j = partner.row;
        const int l = __ldcg(where + 3 * all + partner.at);
        const double low_room = __ldcg(values + 3 * all + partner.at);
        const double b = -__ldcg(values + 2 * all + partner.at) - up.score;
        double q_pair = i == j ? 0.0 : diagonal[i] + diagonal[j] - 2.0 * (double)K[(i64)i * n + j];
        q_pair += k == l ? 0.0 : 2.0 * r;
        double step = b / (q_pair > TAU ? q_pair : TAU);
        step = up_room < step ? up_room : step;
        step = low_room < step ? low_room : step;
        step = room < step ? room : step;
        for (int side = 0; side < 2; side++) {  // whoever looks after the row moves its variable
            const int p = side ? j : i, at = side ? l : k;
            if (p % rows.hop != rows.begin) continue;
            const Box box(y[p], at, cost[p], first[y[p]], last[y[p]], low_bound, high_bound);
            double* b_p = beta + (i64)p * m + at;
            if (side) *b_p = step == low_room ? box.lower : *b_p - step;
            else *b_p = step == up_room ? box.upper : *b_p + step;
            const i64 word = (i64)(at >> 5) * n + p;
            const unsigned bit = 1u << (at & 31);
            rise[word] = *b_p < box.upper ? rise[word] | bit : rise[word] & ~bit;
            fall[word] = *b_p > box.lower ? fall[word] | bit : fall[word] & ~bit;
        }
        if (threadIdx.x == 0) {
            c_here[k] += step;
            c_here[l] -= step;
            rc[k] = r * c_here[k];
            rc[l] = r * c_here[l];
        }
        if (raised >= 0 && raised < lowered) room -= step;
        change = i == j ? 0.0 : step;
        steps++;
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
