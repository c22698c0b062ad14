/* What is mapped: whole variables, sections, device pointers. Sections leave all of them at both ends. */
#include <stdio.h>
float A[1000], B[1000];
int main(void)
{
    for (int i = 0; i < 1000; i++) A[i] = i;
    #pragma acc parallel loop copyin(A) copyout(B)
    for (int i = 0; i < 1000; i++) {
        #pragma acc cache(A[i-2:5])
        float s = 0;
        for (int j = i - 2; j <= i + 2; j++) if (j >= 0 && j < 1000) s += A[j];
        B[i] = s;
    }
    float t = 0; for (int i = 0; i < 1000; i++) t += B[i] * (i % 7);
    float *p = A;
    #pragma acc enter data copyin(A) create(B)
    #pragma acc parallel loop present(A, B)
    for (int i = 0; i < 1000; i++) {
        #pragma acc cache(A[i-2:5])
        float s = 0;
        for (int j = i - 2; j <= i + 2; j++) if (j >= 0 && j < 1000) s += A[j];
        B[i] = s;
    }
    #pragma acc parallel loop present(p[0:1000], B)
    for (int i = 0; i < 1000; i++) {
        #pragma acc cache(p[i-2:5])
        float s = 0;
        for (int j = i - 2; j <= i + 2; j++) if (j >= 0 && j < 1000) s += p[j];
        B[i] += s;
    }
    #pragma acc host_data use_device(p)
    {
    #pragma acc parallel loop deviceptr(p) present(B)
    for (int i = 0; i < 1000; i++) {
        #pragma acc cache(p[i-2:5])
        float s = 0;
        for (int j = i - 2; j <= i + 2; j++) if (j >= 0 && j < 1000) s += p[j];
        B[i] += s;
    }
    }
    #pragma acc parallel loop present(p, B)
    for (int i = 0; i < 1000; i++) {
        #pragma acc cache(p[i-2:5])
        float s = 0;
        for (int j = i - 2; j <= i + 2; j++) if (j >= 0 && j < 1000) s += p[j];
        B[i] += s;
    }
    #pragma acc exit data delete(A) copyout(B)
    for (int i = 0; i < 1000; i++) t += B[i] * (i % 7);
    printf("%g\n", t);
    return 0;
}
