// RUN: accopt %s -p order-cached-loops --split-input-file | filecheck %s
// RUN: accopt %s -p "order-cached-loops{target=host}" --split-input-file | filecheck %s --check-prefix=HOST

// Neighbouring iterations of %j read the same row: they get the threads, and the inner loop none.
// CHECK-LABEL: llvm.func @shared
// CHECK:       acc.loop reduction(%sum : !llvm.ptr) control(%q : i32)
// CHECK:       accx.why = "the loops around it share what it reads in shared memory"
// CHECK-SAME:  seq = [#acc.device_type<none>]

// The host does not cache.
// HOST-NOT:    seq =
llvm.func @shared(%n: i32, %a: !llvm.ptr, %r: !llvm.ptr) {
  acc.parallel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %first = arith.constant 0 : i64
      %length = arith.constant 16 : i64
      %c4 = arith.constant 4 : i64
      %bounds = acc.bounds lowerbound(%first : i64) extent(%length : i64) stride(%c4 : i64) startIdx(%first : i64) {strideInBytes = true}
      %view = acc.cache varPtr(%a : !llvm.ptr) varType(f32) bounds(%bounds) -> !llvm.ptr {name = "a"}
      %sum = acc.reduction varPtr(%r : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "r"}
      acc.loop reduction(%sum : !llvm.ptr) control(%q : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// -----

// Every iteration of %j has a row of its own: the inner loop walks along it, so its lanes do.
// CHECK-LABEL: llvm.func @rows
// CHECK-NOT:   seq =
llvm.func @rows(%n: i32, %a: !llvm.ptr, %r: !llvm.ptr) {
  acc.parallel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %zero = arith.constant 0 : i64
      %c16 = arith.constant 16 : i64
      %j64 = arith.extsi %j : i32 to i64
      %first = arith.muli %j64, %c16 : i64
      %c4 = arith.constant 4 : i64
      %bounds = acc.bounds lowerbound(%first : i64) extent(%c16 : i64) stride(%c4 : i64) startIdx(%zero : i64) {strideInBytes = true}
      %view = acc.cache varPtr(%a : !llvm.ptr) varType(f32) bounds(%bounds) -> !llvm.ptr {name = "a"}
      %sum = acc.reduction varPtr(%r : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "r"}
      acc.loop reduction(%sum : !llvm.ptr) control(%q : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// -----

// The user gave the outer loop to gangs: lanes are for the inner one, and the section is the gang's.
// CHECK-LABEL: llvm.func @gangs
// CHECK-NOT:   seq =
llvm.func @gangs(%n: i32, %a: !llvm.ptr, %r: !llvm.ptr) {
  acc.parallel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    acc.loop gang control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %first = arith.constant 0 : i64
      %length = arith.constant 16 : i64
      %c4 = arith.constant 4 : i64
      %bounds = acc.bounds lowerbound(%first : i64) extent(%length : i64) stride(%c4 : i64) startIdx(%first : i64) {strideInBytes = true}
      %view = acc.cache varPtr(%a : !llvm.ptr) varType(f32) bounds(%bounds) -> !llvm.ptr {name = "a"}
      %sum = acc.reduction varPtr(%r : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "r"}
      acc.loop reduction(%sum : !llvm.ptr) control(%q : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}
