/* Names that PTX reserves, and names that the code generator gives to parameters, results, frames and labels. */
#include "check.h"
int WARP_SZ = 32, _ = 3, A7 = 4, inlined_at = 5, f_param_0 = 6, param0 = 7, func_retval0 = 8;
static int function_name[4] = {1, 2, 3, 4};
int tid = 1, add, reg, call = 2, b32 = 3, pred = 4, ret = 9;
static const int $[4] = {1, 2, 3, 4}, $x[2] = {5, 6}, x$y[2] = {7, 8}, $L__BB0_1[2] = {9, 10};
#pragma acc declare copyin(WARP_SZ, _, A7, inlined_at, f_param_0, param0, func_retval0, function_name, tid, call, b32, pred, ret)
#pragma acc declare create(add, reg)
#pragma acc routine seq
__attribute__((noinline)) int f(int v) { return v > 2 ? f(v - 1) + f_param_0 + func_retval0 + param0 : v; }
#pragma acc routine seq
__attribute__((noinline)) int retval0(int v) { return v > 2 ? retval0(v - 2) + f_param_0 + A7 : 1; }
#pragma acc routine seq
__attribute__((noinline)) int exit_(int WARP_SZ) { struct mul { int param0; } _ = {WARP_SZ}; return _.param0 > 3 ? exit_(WARP_SZ - 1) : _.param0; }
#pragma acc routine vector
__attribute__((noinline)) void __local_depot0(int *a, int n) {
#pragma acc loop vector
    for (int i = 0; i < n; i++) a[i] += i + _;
}
#pragma acc routine seq
__attribute__((noinline)) int prototype_0(int mad) { int local[8]; for (int i = 0; i < 8; i++) local[i] = i * mad; return local[mad & 7] + (mad > 3 ? prototype_0(mad - 3) : 0); }
int temp_param_reg(int n) {
    int a[8], s = 0;
#pragma acc parallel loop copyout(a)
    for (int i = 0; i < 8; i++) a[i] = WARP_SZ * i + _ + A7 + inlined_at + function_name[i & 3] + f(i) + retval0(i) + exit_(i) + prototype_0(i);
#pragma acc parallel copy(a) num_gangs(1)
    __local_depot0(a, 8);
#pragma acc parallel loop copy(a)
    for (int i = 0; i < 8; i++) a[i] += tid + add + reg + call + b32 + pred + ret + $[i & 3] + $x[i & 1] + x$y[i & 1] + $L__BB0_1[i & 1];
    for (int i = 0; i < 8; i++) s = s * 3 + a[i] + n;
    return s;
}
int main(void)
{
    CHECK_EQ(temp_param_reg(1), 264415);
    return report();
}
