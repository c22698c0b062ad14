// RUN: accopt %s --target=nvptx --emit=transformed | filecheck %s

// A row times a vector, whose sum of doubles keeps its order: all rows read the vector through tiles.
// CHECK-LABEL: @row_times_vector
// CHECK:         accx.shared_tile "v"
// CHECK:         accx.gang_barrier
void row_times_vector(int n, int m, const double *restrict a, const double *restrict v, double *restrict out)
{
#pragma acc parallel loop present(a[0:n*m], v[0:m], out[0:n])
    for (int j = 0; j < n; j++) {
        double s = 0;
        for (int i = 0; i < m; i++)
            s += a[j * m + i] * v[i];
        out[j] = s;
    }
}
