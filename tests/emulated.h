// The kernels of src/tordinal/engines/cuda/kernels.cu for the CPU: blocks of one thread, warps of one
// lane. Blocks run in threads of the host, so that steps of SMO wait for each other as on a GPU.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <sched.h>
#include <vector>

#define LANES 1
#define SIDE 1
#define PAUSE sched_yield()
#define UNROLL
#define UNROLL_BY_FOUR
#define __restrict__
#define NOINLINE
#define DYNAMIC_SHARED(name) double* name = dynamic_shared.data()
#define __global__
#define __device__
#define __shared__ static thread_local

using std::exp;
using std::fabs;
using std::pow;
using std::sqrt;

struct Dim { unsigned x, y, z; };
static thread_local Dim threadIdx = {0, 0, 0}, blockIdx = {0, 0, 0};
static thread_local Dim blockDim = {1, 1, 1}, gridDim = {1, 1, 1};
static thread_local std::vector<double> dynamic_shared;

static double __longlong_as_double(long long bits)
{
    double value;
    std::memcpy(&value, &bits, 8);
    return value;
}
template <class T> T __shfl_xor_sync(unsigned, T value, int) { return value; }
template <class T> T __ldcg(const T* at) { return *(const volatile T*)at; }
static void __syncthreads() {}
static void __syncwarp() {}
static void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static void atomicAdd(unsigned* at, unsigned value) { __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); }

extern "C" void be_block(int number, int n_blocks, int shared)
{
    blockIdx.x = number;
    gridDim.x = n_blocks;
    dynamic_shared.resize(shared / 8 + 1);
}
