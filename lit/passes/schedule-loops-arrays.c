// RUN: accopt %s --target=nvptx --emit=scheduled | filecheck %s

// The arrays of several iterations would be in local memory: one iteration in a thread at a time.
// CHECK-LABEL: llvm.func @collide
// CHECK-NOT:     elements = 8
// CHECK-LABEL: llvm.func @differences
// CHECK:         elements = 8
void collide(int nx, int ny, const float *restrict f, float *restrict g)
{
#pragma acc parallel loop present(f[0:9*nx*ny], g[0:9*nx*ny])
    for (int y = 0; y < ny; y++) {
#pragma acc loop
        for (int x = 0; x < nx; x++) {
            float own[9], rho = 0;
            for (int q = 0; q < 9; q++) {
                own[q] = f[(q * ny + y) * nx + x];
                rho += own[q];
            }
            for (int q = 0; q < 9; q++)
                g[(q * ny + y) * nx + x] = own[q] / rho;
        }
    }
}

// Small ones fit into registers.
void differences(int nx, int ny, const float *restrict f, float *restrict g)
{
#pragma acc parallel loop present(f[0:3*nx*ny], g[0:3*nx*ny])
    for (int y = 0; y < ny; y++) {
#pragma acc loop
        for (int x = 0; x < nx; x++) {
            float own[3], rho = 0;
            for (int q = 0; q < 3; q++) {
                own[q] = f[(q * ny + y) * nx + x];
                rho += own[q];
            }
            for (int q = 0; q < 3; q++)
                g[(q * ny + y) * nx + x] = own[q] / rho;
        }
    }
}

// Loops that end by a condition cannot be fused: several would run one after the other.
// CHECK-LABEL: llvm.func @escape
// CHECK-NOT:     elements = 8
// CHECK-LABEL: llvm.func @end
void escape(int nx, int ny, float *restrict out)
{
#pragma acc parallel loop present(out[0:nx*ny])
    for (int y = 0; y < ny; y++) {
#pragma acc loop
        for (int x = 0; x < nx; x++) {
            float a = 0, b = 0;
            int turns = 0;
            while (a * a + b * b < 4 && turns < 200) {
                float next = a * a - b * b + 3.0f * x / nx - 2;
                b = 2 * a * b + 2.0f * y / ny - 1;
                a = next;
                turns++;
            }
            out[y * nx + x] = turns;
        }
    }
}

void end(void) {}
