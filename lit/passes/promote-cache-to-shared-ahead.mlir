// RUN: accopt %s -p "promote-cache-to-shared" | filecheck %s
// RUN: accopt %s -p "promote-cache-to-shared{stages=2 rows=4 columns=4 fetch=async}" | filecheck %s --check-prefix=ASYNC
// RUN: accopt %s -p "promote-cache-to-shared{rows=8 columns=8 stages=1 transpose=false}" | filecheck %s --check-prefix=ONE

// A matrix product: threads compute 8 × 8 outputs. The left factor's tile stands transposed, its rows of
// 128 elements padded by 4, and both tiles have two buffers. The first turn's words are stored in front of
// the loop; in it the next turn's are loaded before the threads compute and stored behind that, so that
// there is one barrier.
// CHECK-LABEL: llvm.func @gemm
// CHECK:       %a_tile = accx.shared_tile "a" 16896
// CHECK:       %b_tile = accx.shared_tile "b" 16384
// CHECK:       accx.gang_barrier
// CHECK:       %more = arith.cmpi slt
// CHECK:       scf.if %more
// CHECK:       llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK:       scf.for %k =
// CHECK:       accx.gang_barrier
// CHECK:       %following = arith.addi %k
// CHECK:       %other = arith.xori
// CHECK:       scf.if %more
// CHECK:       scf.for %q =
// CHECK-NOT:   arith.extsi
// CHECK:       %a_place = llvm.getelementptr inbounds %a_buffer
// CHECK:       [[OFFSET:%[0-9]+]] = arith.addi
// CHECK-NEXT:  %a_cached = llvm.getelementptr inbounds %a_place{{(_[0-9]+)?}}{{\[}}[[OFFSET]]]
// CHECK-NEXT:  llvm.load %a_cached
// CHECK-NEXT:  llvm.getelementptr inbounds %a_buffer
// CHECK-NEXT:  llvm.getelementptr inbounds %a_place{{(_[0-9]+)?}}{{\[}}[[OFFSET]]]
// CHECK-NOT:   accx.gang_barrier
// CHECK:       llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK-NOT:   accx.gang_barrier
// CHECK-NOT:   accx.resident
// CHECK:       elements (8448 bytes, transposed, rows padded by 4, two buffers, filled one turn ahead), shared by

// Asynchronous copies of the next turn are on their way while the threads compute.
// ASYNC-LABEL: llvm.func @gemm
// ASYNC:       accx.copy_async
// ASYNC:       scf.for %k =
// ASYNC:       accx.wait_copies
// ASYNC-NEXT:  accx.gang_barrier
// ASYNC:       accx.copy_async
// ASYNC:       scf.for %q =
// ASYNC-NOT:   accx.wait_copies

// One buffer, so that two blocks must share a multiprocessor.
// ONE-LABEL:   llvm.func @gemm
// ONE:         accx.shared_tile "a" 8192
// ONE:         scf.for %k =
// ONE:         accx.gang_barrier
// ONE:         scf.if %whole
// ONE:         accx.gang_barrier
// ONE:         scf.for %q =
// ONE:         accx.resident = 2 : i32

builtin.module attributes {accx.version = 3 : i32, accx.stage = "scheduled"} {
  llvm.func @gemm(%n: i32, %a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr {llvm.noalias}, %c: !llvm.ptr {llvm.noalias}) {
    %n_1 = arith.extsi %n : i32 to i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c0_i64 = arith.constant 0 : i64
    %c4_i64 = arith.constant 4 : i64
    %0 = arith.muli %n_1, %c4_i64 overflow<nsw> : i64
    %bounds = acc.bounds lowerbound(%c0_i64 : i64) extent(%n_1 : i64) stride(%0 : i64) startIdx(%c0_i64 : i64) {strideInBytes = true}
    %a_1 = acc.present varPtr(%a : !llvm.ptr) varType(i8) bounds(%bounds) -> !llvm.ptr {accx.restrict, name = "a"}
    %1 = arith.muli %n_1, %c4_i64 overflow<nsw> : i64
    %bounds_1 = acc.bounds lowerbound(%c0_i64 : i64) extent(%n_1 : i64) stride(%1 : i64) startIdx(%c0_i64 : i64) {strideInBytes = true}
    %b_1 = acc.present varPtr(%b : !llvm.ptr) varType(i8) bounds(%bounds_1) -> !llvm.ptr {accx.restrict, name = "b"}
    %2 = arith.muli %n_1, %c4_i64 overflow<nsw> : i64
    %bounds_2 = acc.bounds lowerbound(%c0_i64 : i64) extent(%n_1 : i64) stride(%2 : i64) startIdx(%c0_i64 : i64) {strideInBytes = true}
    %c_1 = acc.present varPtr(%c : !llvm.ptr) varType(i8) bounds(%bounds_2) -> !llvm.ptr {accx.restrict, name = "c"}
    %c1_1 = arith.constant 1 : i32
    %c256 = arith.constant 256 : i32
    %n_2 = arith.extsi %n : i32 to i64
    %c255 = arith.constant 255 : i64
    %3 = arith.addi %n_2, %c255 : i64
    %c256_1 = arith.constant 256 : i64
    %4 = arith.divsi %3, %c256_1 : i64
    %c2147483647 = arith.constant 2147483647 : i64
    %5 = arith.minsi %4, %c2147483647 : i64
    %c7 = arith.constant 7 : i64
    %6 = arith.addi %n_2, %c7 : i64
    %c8 = arith.constant 8 : i64
    %7 = arith.divsi %6, %c8 : i64
    %c65535 = arith.constant 65535 : i64
    %8 = arith.minsi %7, %c65535 : i64
    %c1_2 = arith.constant 1 : i64
    %9 = arith.maxsi %5, %c1_2 : i64
    %num_gangs = arith.trunci %9 : i64 to i32
    %10 = arith.maxsi %8, %c1_2 : i64
    %num_gangs_1 = arith.trunci %10 : i64 to i32
    acc.parallel combined(loop) dataOperands(%a_1, %b_1, %c_1 : !llvm.ptr, !llvm.ptr, !llvm.ptr) num_gangs({%num_gangs : i32, %num_gangs_1 : i32}) num_workers(%c1_1 : i32) vector_length(%c256 : i32) {
      %c1_3 = arith.constant 1 : i32
      %c0_1 = arith.constant 0 : i32
      acc.loop combined(parallel) gang control(%i : i32) = (%c0_1 : i32) to (%n : i32) step (%c1_3 : i32) {
        acc.loop gang vector control(%j : i32) = (%c0_1 : i32) to (%n : i32) step (%c1_3 : i32) {
          %cst = arith.constant 0.000000e+00 : f32
          %c0_2 = arith.constant 0 : i32
          %c16 = arith.constant 16 : i32
          %sum = scf.for %k = %c0_2 to %n step %c16 iter_args(%sum_1 = %cst) -> (f32) : i32 {
            %i_1 = arith.extsi %i : i32 to i64
            %c1_4 = arith.constant 1 : i32
            %c1_i64 = arith.constant 1 : i64
            %c0_i64_1 = arith.constant 0 : i64
            %c4_i64_1 = arith.constant 4 : i64
            %11 = arith.muli %n_1, %c4_i64_1 overflow<nsw> : i64
            %bounds_3 = acc.bounds lowerbound(%i_1 : i64) extent(%c1_i64 : i64) stride(%11 : i64) startIdx(%c0_i64_1 : i64) {strideInBytes = true}
            %k_1 = arith.extsi %k : i32 to i64
            %c16_1 = arith.constant 16 : i32
            %c16_i64 = arith.constant 16 : i64
            %bounds_4 = acc.bounds lowerbound(%k_1 : i64) extent(%c16_i64 : i64) stride(%c4_i64_1 : i64) startIdx(%c0_i64_1 : i64) {strideInBytes = true}
            %a_2 = acc.cache varPtr(%a_1 : !llvm.ptr) varType(i8) bounds(%bounds_3, %bounds_4) -> !llvm.ptr {accx.restrict, dataClause = #acc<data_clause acc_cache_readonly>, name = "a"}
            %12 = arith.muli %n_1, %c4_i64_1 overflow<nsw> : i64
            %bounds_5 = acc.bounds lowerbound(%k_1 : i64) extent(%c16_i64 : i64) stride(%12 : i64) startIdx(%c0_i64_1 : i64) {strideInBytes = true}
            %j_1 = arith.extsi %j : i32 to i64
            %bounds_6 = acc.bounds lowerbound(%j_1 : i64) extent(%c1_i64 : i64) stride(%c4_i64_1 : i64) startIdx(%c0_i64_1 : i64) {strideInBytes = true}
            %b_2 = acc.cache varPtr(%b_1 : !llvm.ptr) varType(i8) bounds(%bounds_5, %bounds_6) -> !llvm.ptr {accx.restrict, dataClause = #acc<data_clause acc_cache_readonly>, name = "b"}
            %q_end = arith.addi %k, %c16_1 overflow<nsw> : i32
            %sum_2 = scf.for %q = %k to %q_end step %c1_4 iter_args(%sum_3 = %sum_1) -> (f32) : i32 {
              %i_2 = arith.extsi %i : i32 to i64
              %c4_i64_2 = arith.constant 4 : i64
              %13 = arith.muli %n_1, %c4_i64_2 overflow<nsw> : i64
              %14 = arith.muli %i_2, %13 overflow<nsw> : i64
              %a_3 = llvm.getelementptr inbounds %a_2[%14] : (!llvm.ptr, i64) -> !llvm.ptr, i8
              %q_1 = arith.extsi %q : i32 to i64
              %a_i = llvm.getelementptr inbounds %a_3[%q_1] : (!llvm.ptr, i64) -> !llvm.ptr, f32
              %a_i_q = llvm.load %a_i : !llvm.ptr -> f32
              %15 = arith.muli %n_1, %c4_i64_2 overflow<nsw> : i64
              %16 = arith.muli %q_1, %15 overflow<nsw> : i64
              %b_3 = llvm.getelementptr inbounds %b_2[%16] : (!llvm.ptr, i64) -> !llvm.ptr, i8
              %j_2 = arith.extsi %j : i32 to i64
              %b_q = llvm.getelementptr inbounds %b_3[%j_2] : (!llvm.ptr, i64) -> !llvm.ptr, f32
              %b_q_j = llvm.load %b_q : !llvm.ptr -> f32
              %17 = arith.mulf %a_i_q, %b_q_j : f32
              %sum_4 = arith.addf %sum_3, %17 : f32
              scf.yield %sum_4 : f32
            }
            scf.yield %sum_2 : f32
          }
          %i_3 = arith.extsi %i : i32 to i64
          %c4_i64_3 = arith.constant 4 : i64
          %18 = arith.muli %n_1, %c4_i64_3 overflow<nsw> : i64
          %19 = arith.muli %i_3, %18 overflow<nsw> : i64
          %c_2 = llvm.getelementptr inbounds %c_1[%19] : (!llvm.ptr, i64) -> !llvm.ptr, i8
          %j_3 = arith.extsi %j : i32 to i64
          %c_i = llvm.getelementptr inbounds %c_2[%j_3] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          llvm.store %sum, %c_i : f32, !llvm.ptr
          acc.yield
        } attributes {accx.schedule = #accx.schedule<covers>, accx.why = "tightly nested loops, schedule 2_2: contiguous accesses on lanes", inclusiveUpperbound = array<i1: false>, independent = [#acc.device_type<none>]}
        acc.yield
      } attributes {accx.schedule = #accx.schedule<gang_dim = 2, elements = 8>, accx.why = "tightly nested loops, schedule 2_2: contiguous accesses on lanes", inclusiveUpperbound = array<i1: false>, independent = [#acc.device_type<none>]}
      acc.yield
    }
    acc.delete accPtr(%c_1 : !llvm.ptr) bounds(%bounds_2) {dataClause = #acc<data_clause acc_present>, name = "c"}
    acc.delete accPtr(%b_1 : !llvm.ptr) bounds(%bounds_1) {dataClause = #acc<data_clause acc_present>, name = "b"}
    acc.delete accPtr(%a_1 : !llvm.ptr) bounds(%bounds) {dataClause = #acc<data_clause acc_present>, name = "a"}
    llvm.return
  }
}
