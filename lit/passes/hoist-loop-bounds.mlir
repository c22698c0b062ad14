// RUN: accopt %s -p hoist-loop-bounds | filecheck %s

// The inner loop's end goes before the construct, its constants before the nest; what depends on the outer
// loop, or might trap, stays.
// CHECK-LABEL: llvm.func @rectangle
// CHECK:         %[[END:.*]] = arith.subi %n, %{{.*}} : i32
// CHECK:         acc.parallel {
// CHECK:           %[[ONE:.*]] = arith.constant 1 : i32
// CHECK:           acc.loop control(%i : i32) = (%[[ONE]] : i32) to (%n : i32) step (%[[ONE]] : i32) {
// CHECK-NOT:         arith
// CHECK:             acc.loop control(%j : i32) = (%[[ONE]] : i32) to (%[[END]] : i32) step (%[[ONE]] : i32) {
// CHECK:             %half = arith.divsi %n, %i
// CHECK:             acc.loop control(%k : i32) = (%[[ONE]] : i32) to (%half : i32) step (%[[ONE]] : i32) {
// CHECK:             acc.loop control(%l : i32) = (%i : i32) to (%n : i32) step (%[[ONE]] : i32) {
llvm.func @rectangle(%n: i32) {
  acc.parallel {
    %one = arith.constant 1 : i32
    acc.loop control(%i : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
      %c1 = arith.constant 1 : i32
      %end = arith.subi %n, %c1 : i32
      acc.loop control(%j : i32) = (%c1 : i32) to (%end : i32) step (%c1 : i32) {
        "test.op"(%i, %j) : (i32, i32) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      %half = arith.divsi %n, %i : i32
      acc.loop control(%k : i32) = (%c1 : i32) to (%half : i32) step (%c1 : i32) {
        "test.op"(%i, %k) : (i32, i32) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.loop control(%l : i32) = (%i : i32) to (%n : i32) step (%c1 : i32) {
        "test.op"(%i, %l) : (i32, i32) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// A value that is an operand of another one as well is erased once.
// CHECK-LABEL: llvm.func @shared
// CHECK:         acc.parallel {
// CHECK:           acc.loop control(%i
// CHECK-NOT:         arith
// CHECK:             acc.loop control(%j
llvm.func @shared(%n: i32) {
  acc.parallel {
    %one = arith.constant 1 : i32
    acc.loop control(%i : i32) = (%one : i32) to (%n : i32) step (%one : i32) {
      %more = arith.addi %n, %one : i32
      %twice = arith.muli %more, %n : i32
      %end = arith.subi %twice, %more : i32
      acc.loop control(%j : i32) = (%one : i32) to (%end : i32) step (%one : i32) {
        "test.op"(%i, %j) : (i32, i32) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}
