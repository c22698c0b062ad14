// RUN: accopt %s -p "promote-cache-to-shared{strict=true promote=always}" --split-input-file --verify-diagnostics | filecheck %s

// The section moves with the square of the loop variable.
// CHECK: error: the cache directive for 'a' cannot be honoured: its lower bound is not linear in the parallel loop variables
// CHECK: help: change the section, or leave out strict: the directive is then ignored
llvm.func @f(%n: i32, %m: i64, %a: !llvm.ptr) {
  %one = arith.constant 1 : i32
  %lanes = arith.constant 128 : i32
  acc.parallel num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%lanes : i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %wide = arith.extsi %i : i32 to i64
      %square = arith.muli %wide, %wide : i64
      %c3 = arith.constant 3 : i64
      %c4 = arith.constant 4 : i64
      %first = arith.constant 0 : i64
      %bounds = acc.bounds lowerbound(%square : i64) extent(%c3 : i64) stride(%c4 : i64) startIdx(%first : i64) {strideInBytes = true}
      %view = acc.cache varPtr(%a : !llvm.ptr) varType(f32) bounds(%bounds) -> !llvm.ptr {name = "a"}
      %p = llvm.getelementptr %view[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      llvm.store %v, %p : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// -----

// How long the section is is known only at run time.
// CHECK: error: the cache directive for 'a' cannot be honoured: the length of the section of 'a' is not a constant
// CHECK: help: change the section, or leave out strict: the directive is then ignored
llvm.func @f(%n: i32, %m: i64, %a: !llvm.ptr) {
  %one = arith.constant 1 : i32
  %lanes = arith.constant 128 : i32
  acc.parallel num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%lanes : i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %wide = arith.extsi %i : i32 to i64
      %square = arith.muli %wide, %wide : i64
      %c3 = arith.constant 3 : i64
      %c4 = arith.constant 4 : i64
      %first = arith.constant 0 : i64
      %bounds = acc.bounds lowerbound(%wide : i64) extent(%m : i64) stride(%c4 : i64) startIdx(%first : i64) {strideInBytes = true}
      %view = acc.cache varPtr(%a : !llvm.ptr) varType(f32) bounds(%bounds) -> !llvm.ptr {name = "a"}
      %p = llvm.getelementptr %view[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      llvm.store %v, %p : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// -----

// The access is three elements behind the section.
// CHECK: error: the cache directive for 'a' cannot be honoured: the access in line {{[0-9]+}}, column {{[0-9]+}} lies outside of the section
// CHECK: help: change the section, or leave out strict: the directive is then ignored
llvm.func @f(%n: i32, %m: i64, %a: !llvm.ptr) {
  %one = arith.constant 1 : i32
  %lanes = arith.constant 128 : i32
  acc.parallel num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%lanes : i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %wide = arith.extsi %i : i32 to i64
      %square = arith.muli %wide, %wide : i64
      %c3 = arith.constant 3 : i64
      %c4 = arith.constant 4 : i64
      %first = arith.constant 0 : i64
      %bounds = acc.bounds lowerbound(%wide : i64) extent(%c3 : i64) stride(%c4 : i64) startIdx(%first : i64) {strideInBytes = true}
      %view = acc.cache varPtr(%a : !llvm.ptr) varType(f32) bounds(%bounds) -> !llvm.ptr {name = "a"}
      %c3_i32 = arith.constant 3 : i32
      %far = arith.addi %i, %c3_i32 : i32
      %p = llvm.getelementptr %view[%far] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      llvm.store %v, %p : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}
