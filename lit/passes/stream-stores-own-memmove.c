// RUN: accopt %s --target=host --emit=host | filecheck %s

// The program's memmove may do more than the C library's, or contain such a loop itself.
// CHECK-NOT: "llvm.intr.memmove"
void *memmove(void *to, const void *from, unsigned long bytes)
{
    char *t = to;
    const char *f = from;
#pragma acc parallel loop present(t[0:bytes], f[0:bytes])
    for (unsigned long i = 0; i < bytes; i++)
        t[i] = f[i];
    return to;
}

void copy(int n, const float *a, float *b)
{
#pragma acc parallel loop present(a[0:n], b[0:n])
    for (int i = 0; i < n; i++)
        b[i] = a[i];
}
