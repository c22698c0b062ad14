// RUN: accopt %s --split-input-file --verify-diagnostics | filecheck %s

// Asynchronous copies move 4, 8 or 16 bytes.
// CHECK: expected 4, 8 or 16 bytes, got 3
llvm.func @copy(%p: !llvm.ptr, %tile: !llvm.ptr<3>) {
  accx.copy_async %p to %tile 3 : i64 : !llvm.ptr to !llvm.ptr<3>
  llvm.return
}
// -----
// Bulk copies move multiples of 16 bytes.
// CHECK: expected a multiple of 16 bytes, got 24
llvm.func @bulk(%p: !llvm.ptr, %tile: !llvm.ptr<3>) {
  accx.copy_bulk %p to %tile 24 : i64 on %tile : !llvm.ptr to !llvm.ptr<3> on !llvm.ptr<3>
  llvm.return
}
// -----
// A packed element keeps at least 8 bits and no more than its format has.
// CHECK: float can be kept in 8 to 21 bits, not 3
llvm.func @packed() {
  %few = "test.op"() : () -> !accx.packed<f32, 3, range>
  llvm.return
}
// -----
// CHECK: expected a code (range, half, bfloat16, plain, centred), found other
llvm.func @code() {
  %x = "test.op"() : () -> !accx.packed<f32, 16, other>
  llvm.return
}
// -----
// CHECK: expected one of begin, iteration, end, read, write, found pause
llvm.func @watch() {
  accx.watch "pause" 0 : i32 {line = 3 : i64}
  llvm.return
}
// -----
// CHECK: expected operands for a write only: the copy's address and the value
llvm.func @watch(%p: !llvm.ptr) {
  accx.watch "write" 0 : i32 of %p : !llvm.ptr {name = "t"}
  llvm.return
}
// -----
// CHECK: expected triples of bounds, got 2 values
llvm.func @peer(%p: !llvm.ptr, %l: i64, %d: i32) {
  accx.update_peer to "t" %p : !llvm.ptr 8 : i64[%l, %l] on %d from "s" %p : !llvm.ptr 8 : i64[] on %d
  llvm.return
}
// -----
// Matrix instructions have certain shapes, and each lane its share of the elements.
// CHECK: expected one of the shapes 8×8×4, 16×8×4, 16×8×8, 16×8×16 of doubles, got 8×8×8
llvm.func @shape(%x: f64) {
  %d, %e = accx.warp_product <m = 8, n = 8, k = 8> %x by %x to %x, %x : f64, f64
  llvm.return
}
// -----
// CHECK: expected 2 elements of A in each lane, got 1
llvm.func @shares(%x: f64) {
  %d, %e = accx.warp_product <m = 16, n = 8, k = 4> %x by %x to %x, %x : f64, f64
  llvm.return
}
