// RUN: accopt %s --emit=acc | filecheck %s

// Scalars, text and number arrays are attributes; the rest are regions with relocations.
int x = 4;
const char text[6] = "abc";
// CHECK-DAG: llvm.mlir.global external @x(4 : i32) {{.*}} : i32
// CHECK-DAG: llvm.mlir.global external constant @text("abc\00\00\00")
static int primes[20] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59};
int *third = &primes[2];
// CHECK:      llvm.mlir.global internal @primes(dense<[2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 0, 0, 0]> : tensor<20xi32>)
// CHECK:      llvm.mlir.global external @third() {{.*}} : !llvm.ptr {
// CHECK-NEXT:   llvm.mlir.zero
// CHECK-NEXT:   %[[P:.*]] = llvm.mlir.addressof @primes
// CHECK-NEXT:   %[[Q:.*]] = llvm.getelementptr inbounds %[[P]][8]
// CHECK-NEXT:   llvm.return %[[Q]]

// Members are placed by offset, padding are bytes of their own; bit-fields share bytes.
struct mixed { char c; double d; unsigned f : 3, g : 7; struct { short s[2]; } in; } m = {'a', 1.5, 5, 3, {{1, 2}}};
// CHECK:      llvm.mlir.global external @m() {{.*}} : !llvm.struct<"struct.mixed", (i8, !llvm.array<7 x i8>, f64, !llvm.array<2 x i8>, !llvm.struct<"struct.anon", (!llvm.array<2 x i16>)>, !llvm.array<2 x i8>)>

struct mixed *get(void) { return &m; }
// CHECK:      llvm.func @get() -> !llvm.ptr
