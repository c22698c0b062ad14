// RUN: accopt %s --emit=acc | filecheck %s
// RUN: accopt %s --target=nvptx --emit=ptx | filecheck %s --check-prefix=PTX

// A structure is copied with the alignment of its type, in words; within a packed one, byte by byte.
struct node { float x, y, z; };
struct __attribute__((packed)) frame { char tag; struct node inside; };

// CHECK-LABEL: llvm.func @whole
// CHECK: "llvm.intr.memcpy"{{.*}}arg_attrs = [{llvm.align = 4 : i64}, {llvm.align = 4 : i64}
// PTX-NOT: ld.global.b8
// PTX: ld.global.{{(nc.)?(v2.)?}}b32
void whole(int n, const struct node *restrict a, struct node *restrict b)
{
#pragma acc parallel loop present(a[0:n], b[0:n])
    for (int i = 0; i < n; i++) {
        b[i] = a[i];
        b[i].x += 1;
    }
}

// CHECK-LABEL: llvm.func @within
// CHECK: "llvm.intr.memcpy"{{.*}}arg_attrs = [{llvm.align = 4 : i64}, {}, {}]
// CHECK: "llvm.intr.memcpy"{{.*}}arg_attrs = [{}, {llvm.align = 4 : i64}, {}]
void within(struct frame *a, struct node *b)
{
    b[0] = a->inside;
    a->inside = b[1];
}
