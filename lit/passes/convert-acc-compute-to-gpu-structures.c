// RUN: accopt %s --target nvptx --emit=gpu | filecheck %s

// Lanes write the elements of a structure's array that their own variable chooses: the structure is shared like
// an array (its address is passed on, so that it stays whole). One whose scalars they write is a stack slot.
// CHECK:       llvm.mlir.global internal @[[SHARED:[a-z_0-9]*_row]]() {addr_space = 3 : i32, {{.*}}} : !llvm.array<32 x !llvm.array<1 x !llvm.struct
// CHECK-NOT:   llvm.mlir.global internal @{{.*}}apart
// CHECK:       gpu.func
// CHECK:       llvm.mlir.addressof @[[SHARED]] : !llvm.ptr<3>
struct row { int v[64]; int sum; };
void clear(struct row *row);
#pragma acc routine(clear) seq

void g(int n, int out[n])
{
#pragma acc parallel loop gang
    for (int r = 0; r < n; r++) {
        struct row row, apart;
        clear(&row);
        clear(&apart);
#pragma acc loop vector
        for (int j = 0; j < 64; j++) {
            row.v[j] = j * r;
            apart.v[3] = apart.sum = r;
        }
        out[r] = row.v[r % 64] + row.sum;
    }
}
