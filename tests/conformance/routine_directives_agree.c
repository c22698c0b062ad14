/* routine before the prototype, by name, and without a level beside one with a level (OpenACC 3.4, 2.15.1);
   lists of device types on init and shutdown (2.14.1). */
#include <stdio.h>
#pragma acc routine(twice) seq
#pragma acc routine(total) vector
double twice(double x);
#pragma acc routine
int more(int x);
#pragma acc routine seq
int more(int x) { return x + 1; }
#pragma acc routine seq
int less(int x);
#pragma acc routine
int less(int x) { return x - 1; }
#pragma acc routine nohost
static void total(const int *v, int n, int *sum);
static double out[8];
static float table[100];
#pragma acc declare link(table)
#pragma acc routine seq
static float pick(int i) { return table[i]; }
static void total(const int *v, int n, int *sum)
{
    int s = 0;
#pragma acc loop vector reduction(+:s)
    for (int i = 0; i < n; i++) s += v[i];
    *sum = s;
}
int main(void)
{
    int v[4][8], sums[4], steps = 0, wrong = 0;
    float picked = 0;
#pragma acc init device_type(host, nvidia)
#pragma acc init device_type(*) device_num(0)
    for (int i = 0; i < 32; i++) v[i / 8][i % 8] = i;
    for (int i = 0; i < 100; i++) table[i] = i;
#pragma acc parallel loop copyout(out)
    for (int i = 0; i < 8; i++) out[i] = twice(i);
#pragma acc parallel loop reduction(+:steps)
    for (int i = 0; i < 8; i++) steps += more(i) + less(i);
#pragma acc parallel loop gang copyin(v) copyout(sums)
    for (int i = 0; i < 4; i++) total(v[i], 8, &sums[i]);
#pragma acc enter data copyin(table[10:50])
#pragma acc parallel loop reduction(+:picked) present(table[10:50])
    for (int i = 10; i < 60; i++) picked += pick(i);
#pragma acc kernels loop reduction(+:picked)
    for (int i = 10; i < 60; i++) picked += pick(i);
#pragma acc exit data delete(table[10:50])
#pragma acc shutdown dtype(nvidia, host) if(wrong)
    for (int i = 0; i < 8; i++) wrong += out[i] != 2 * i;
    for (int i = 0; i < 4; i++) wrong += sums[i] != 64 * i + 28;
    wrong += (steps != 56) + (picked != 3450);
    puts(wrong ? "wrong" : "OK");
    return wrong;
}
double twice(double x) { return x + x; }
