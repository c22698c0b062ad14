// RUN: accopt %s -p "check-cache-sections{enabled=true}" --split-input-file | filecheck %s
// RUN: accopt %s -p check-cache-sections --split-input-file | filecheck %s --check-prefix=OFF

// Nothing is added unless it is asked for.
// OFF-NOT: outside

// A section of three elements: the index %i + 1 is proved to lie in it, %i + %m is not. The construct
// gets a copy of a record, in which a routine keeps the first finding, and is followed by a look at it.
// CHECK-LABEL: llvm.func @window
// CHECK:       %outside = llvm.alloca %{{.*}} x !llvm.array<5 x i64>
// CHECK:       %outside_1 = acc.copyin varPtr(%outside : !llvm.ptr) varType(!llvm.array<5 x i64>)
// CHECK:       acc.parallel dataOperands(%outside_1 : !llvm.ptr)
// CHECK:         %near = llvm.load
// CHECK:         %outside_2 = arith.cmpi uge, %{{.*}}, %length : i64
// CHECK-NEXT:    scf.if %outside_2 {
// CHECK-NEXT:      %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-NEXT:      llvm.call @__accopt_note_outside(%outside_1, %[[ONE]], %{{.*}}, %lower, %length)
// CHECK-NEXT:    }
// CHECK-NEXT:    %far = llvm.load
// CHECK:       acc.copyout accPtr(%outside_1 : !llvm.ptr) to varPtr(%outside : !llvm.ptr)
// CHECK:       %sections = llvm.mlir.addressof @".cache_sections.0"
// CHECK:       %found = llvm.load %outside
// CHECK:       scf.if
// CHECK:         llvm.call @__accopt_outside(%{{.*}}, %sections, %outside)
// CHECK:       llvm.mlir.global private constant @".cache_sections.0"("{{.*}}\09a\091\091\09{{[0-9]+}}\00")
// CHECK:       acc.routine @acc_routine___accopt_note_outside func(@__accopt_note_outside) seq implicit
// CHECK:       llvm.func internal @__accopt_note_outside(%record: !llvm.ptr, %number: i64, %index: i64, %lower_1: i64, %length_1: i64)
// CHECK:         llvm.atomicrmw
llvm.func @window(%n: i32, %m: i32, %a: !llvm.ptr) {
  %one = arith.constant 1 : i32
  %lanes = arith.constant 128 : i32
  acc.parallel num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%lanes : i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %lower = arith.extsi %i : i32 to i64
      %length = arith.constant 3 : i64
      %c4 = arith.constant 4 : i64
      %first = arith.constant 0 : i64
      %bounds = acc.bounds lowerbound(%lower : i64) extent(%length : i64) stride(%c4 : i64) startIdx(%first : i64) {strideInBytes = true}
      %view = acc.cache varPtr(%a : !llvm.ptr) varType(f32) bounds(%bounds) -> !llvm.ptr {name = "a"}
      %next = arith.addi %i, %c1 : i32
      %p = llvm.getelementptr %view[%next] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %near = llvm.load %p : !llvm.ptr -> f32
      %j = arith.addi %i, %m : i32
      %q = llvm.getelementptr %view[%j] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %far = llvm.load %q : !llvm.ptr -> f32
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// -----

// An asynchronous construct is waited for. The address that goes to a function is not looked at, and
// the directive in a routine neither: remarks say so.
// CHECK-LABEL: llvm.func @passed
// CHECK:       acc.parallel {{.*}} async
// CHECK:       accx.remarks = [{text = "cache(a): line {{[0-9]+}} is not checked against the section"
// CHECK:       acc.copyout
// CHECK-NEXT:  acc.wait
// CHECK-LABEL: llvm.func @routine
// CHECK:       accx.remarks = [{text = "accesses in routines are not checked"
llvm.func @passed(%n: i32, %m: i32, %a: !llvm.ptr) {
  %one = arith.constant 1 : i32
  %lanes = arith.constant 128 : i32
  acc.parallel async num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%lanes : i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %lower = arith.extsi %i : i32 to i64
      %length = arith.constant 3 : i64
      %c4 = arith.constant 4 : i64
      %first = arith.constant 0 : i64
      %bounds = acc.bounds lowerbound(%lower : i64) extent(%length : i64) stride(%c4 : i64) startIdx(%first : i64) {strideInBytes = true}
      %view = acc.cache varPtr(%a : !llvm.ptr) varType(f32) bounds(%bounds) -> !llvm.ptr {name = "a"}
      llvm.call @f(%view) : (!llvm.ptr) -> ()
      %q = llvm.getelementptr %view[%m] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %far = llvm.load %q : !llvm.ptr -> f32
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}
llvm.func @f(!llvm.ptr)
llvm.func @routine(%a: !llvm.ptr, %m: i64) {
  %c3 = arith.constant 3 : i64
  %c4 = arith.constant 4 : i64
  %c0 = arith.constant 0 : i64
  %bounds = acc.bounds lowerbound(%m : i64) extent(%c3 : i64) stride(%c4 : i64) startIdx(%c0 : i64) {strideInBytes = true}
  %view = acc.cache varPtr(%a : !llvm.ptr) varType(f32) bounds(%bounds) -> !llvm.ptr {name = "a"}
  llvm.return
}
