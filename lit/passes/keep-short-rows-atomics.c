// RUN: accopt %s --target=nvptx --emit=transformed | filecheck %s

// A thread has all of a few iterations that update memory atomically, and read it plainly.
// CHECK-LABEL: @shifts
// CHECK-NOT:     one sequence
// CHECK:         accx.why = "it has too few iterations to give each one a thread"
void shifts(int n, const unsigned *restrict bits, unsigned *restrict a, unsigned *restrict c)
{
#pragma acc parallel loop present(bits[0:n], a[0:n], c[0:n*7])
    for (int r = 0; r < n; ++r)
#pragma acc loop
        for (int k = 0; k < 7; ++k) {
            c[r * 7 + k] = a[r];
            if (bits[r] >> k & 1) {
#pragma acc atomic capture
                c[r * 7 + k] = a[r] <<= 1;
            }
        }
}
