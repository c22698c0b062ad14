// RUN: accopt %s --emit=transformed --skip-pass unroll-inner-loops | filecheck %s

// Sums under conditions: threads compute what the conditions choose, and one adds it.
// CHECK-LABEL: @chosen
// CHECK:         accx.gang_threads
// CHECK:           scf.if
// CHECK:             arith.constant -0.000000e+00 : f32
// CHECK:           arith.addf
void chosen(int n, int m, const float *restrict a, const int *restrict k, float *restrict s)
{
#pragma acc parallel loop present(a[0:n*m], k[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < m; j++)
            if (k[i * m + j])
                sum += a[i * m + j];
        s[i] = sum;
    }
}

// Sums and differences of one variable, in nested conditions; a product.
// CHECK-LABEL: @both
// CHECK:         accx.gang_threads
// CHECK:           arith.negf
// CHECK:           arith.constant 1.000000e+00 : f64
void both(int n, int m, const double *restrict a, double *restrict s)
{
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        double sum = 0, product = 1;
        for (int j = 0; j < m; j++) {
            double v = a[i * m + j];
            if (v > 0) {
                if (v > 2)
                    sum += v;
                else
                    sum -= v;
                product *= v;
            }
        }
        s[i] = sum + product;
    }
}

// Not where the condition or the term depends on the sum, where the sum is what is subtracted or divided by, where it
// is used in between, or where sums and products of one variable meet.
// CHECK-LABEL: @dependent
// CHECK-NOT:     accx.gang_threads
// CHECK:         llvm.return
void dependent(int n, int m, const float *restrict a, float *restrict s)
{
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < m; j++)
            if (sum < 9)
                sum += a[i * m + j];
        s[i] = sum;
    }
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < m; j++)
            if (a[i * m + j] > 0)
                sum += a[i * m + (int)sum];
        s[i] = sum;
    }
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < m; j++)
            if (a[i * m + j] > 0)
                sum = a[i * m + j + 1] - sum;
        s[i] = sum;
    }
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0, other = 0;
        for (int j = 0; j < m; j++)
            if (a[i * m + j] > 0) {
                sum += a[i * m + j + 1];
                other += sum;
            }
        s[i] = sum + other;
    }
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < m; j++)
            if (a[i * m + j] > 0)
                sum += a[i * m + j + 1];
            else
                sum *= a[i * m + j + 2];
        s[i] = sum;
    }
}
