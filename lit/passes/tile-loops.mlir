// RUN: accopt %s -p tile-loops | filecheck %s

// Two loops: gang on the tiles, vector on the elements, which end at the bound.
// CHECK-LABEL: llvm.func @free
// CHECK:         acc.loop gang control(%i_tile : i32, %j_tile : i32) = (%c0, %c0 : i32, i32) to (%n, %n : i32, i32) step (%c4_1, %c32 : i32, i32) {
// CHECK:           %[[I:.*]] = arith.addi %i_tile, %c4_1 : i32
// CHECK-NEXT:      %tile_end = arith.minsi %[[I]], %n : i32
// CHECK:           acc.loop vector control(%i : i32, %j : i32) = (%i_tile, %j_tile : i32, i32) to (%tile_end, %{{.*}} : i32, i32) step (%c1, %c1 : i32, i32) {
// CHECK-NOT:       tile
llvm.func @free(%n: i32, %x: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %star = arith.constant -1 : i32
  acc.parallel {
    acc.loop tile({%c4 : i32, %star : i32}) control(%i : i32, %j : i32) = (%c0, %c0 : i32, i32) to (%n, %n : i32, i32) step (%c1, %c1 : i32, i32) {
      llvm.store %i, %x : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false, false>}
    acc.yield
  }
  llvm.return
}

// Worker without vector belongs to the elements; a reduction stands on both loops.
// CHECK-LABEL: llvm.func @worker
// CHECK:         %[[R:.*]] = acc.reduction varPtr(%s : !llvm.ptr)
// CHECK:         acc.loop gang reduction(%[[R]] : !llvm.ptr)
// CHECK:           %[[S:.*]] = acc.reduction varPtr(%[[R]] : !llvm.ptr)
// CHECK:           acc.loop worker reduction(%[[S]] : !llvm.ptr)
// CHECK:             llvm.store %{{.*}}, %[[S]] : i32
llvm.func @worker(%n: i32, %s: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  acc.parallel {
    %r = acc.reduction varPtr(%s : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "s"}
    acc.loop gang worker tile({%c4 : i32}) reduction(%r : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      llvm.store %i, %r : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}
