// RUN: accopt %s -p "promote-cache-to-shared{shared_limit=49152}" --split-input-file | filecheck %s
// RUN: accopt %s -p "promote-cache-to-shared{shared_limit=49152 promote=always method=rbc}" --split-input-file | filecheck %s --check-prefix=RBC
// RUN: accopt %s -p "promote-cache-to-shared{shared_limit=49152 promote=always method=ehc sets=4}" --split-input-file | filecheck %s --check-prefix=EHC
// RUN: accopt %s -p "promote-cache-to-shared{shared_limit=49152 promote=always renewal=communicating fetch=async block_x=64}" --split-input-file | filecheck %s --check-prefix=OTHER
// RUN: accopt %s -p "promote-cache-to-shared{shared_limit=232448}" --split-input-file | filecheck %s --check-prefix=LARGE
// RUN: accopt %s -p "promote-cache-to-shared{shared_limit=49152 width=synchronisation}" --split-input-file | filecheck %s --check-prefix=WIDTH
// RUN: accopt %s -p "promote-cache-to-shared{target=host}" --split-input-file | filecheck %s --check-prefix=HOST

// A wide window: the loop runs over blocks of 256 iterations, whose threads fill a tile of 256 + 60
// elements together. Threads without an iteration take part, but store nothing.
// CHECK-LABEL: llvm.func @smooth
// CHECK:       %blocks = arith.divui
// CHECK:       acc.loop gang control(%i : i32) = (%c0 : i32) to (%blocks : i32)
// CHECK-NEXT:    accx.gang_threads [256 : i64] {
// CHECK-NEXT:    ^bb0(%x: i32):
// CHECK:           %active = arith.cmpi slt, %x, %width : i32
// CHECK:           %a_tile = accx.shared_tile "a" 1264 : i64 : !llvm.ptr<3>
// CHECK:           %whole = arith.cmpi eq, %width, %c256{{.*}} : i32
// CHECK-NEXT:      scf.if %whole {
// CHECK:             llvm.load %a_1 : !llvm.ptr -> i32
// CHECK:             llvm.load %a_3 : !llvm.ptr -> i32
// CHECK-NEXT:        llvm.getelementptr inbounds %a_tile
// CHECK-NEXT:        llvm.store
// CHECK:           } else {
// CHECK:           accx.gang_barrier
// CHECK:           scf.for %j
// CHECK-NEXT:        %a_place = llvm.getelementptr inbounds %a_tile
// CHECK-NOT:         accx.element
// CHECK-NOT:         !llvm.ptr,
// CHECK:             %a_cached = llvm.getelementptr inbounds %a_place
// CHECK-NEXT:        %v = llvm.load %a_cached : !llvm.ptr<3> -> f32
// CHECK:           } {accx.unroll = 61 : i32}
// CHECK:           scf.if %active {
// CHECK-NEXT:        llvm.store %sum, %q
// CHECK:       #accx.schedule<{{.*}}covers>
// CHECK:       accx.remarks = [{text = "cache(a) in shared memory: tile of 316 elements (1264 bytes), shared by 256 threads along i; range-based intelligent: every index lies in the section"

// The threads count the iterations that the block has.
// WIDTH-LABEL: llvm.func @smooth
// WIDTH:       %exists = arith.cmpi slt, %x, %{{.*}} : i32
// WIDTH:       %width = accx.gang_sum %{{.*}}
// WIDTH:       %active = arith.cmpi slt, %x, %width : i32

// Every index is proved to lie in the section: nothing is left to compare.
// RBC-LABEL: llvm.func @smooth
// RBC-NOT:   "ult"
// RBC-NOT:   in_section
// RBC:       range-based conservative: by option

// A thread has 4 sets of one way, which are empty at the directive.
// EHC-LABEL: llvm.func @smooth
// EHC:       %a_tags = accx.shared_tile "a_tags" 8192 : i64
// EHC:       %a_lines = accx.shared_tile "a_lines" 4096 : i64
// EHC:       llvm.store %cm1
// EHC-NOT:   accx.gang_barrier
// EHC:       scf.for %j
// EHC:         %set = arith.andi %number
// EHC:         %tag = llvm.load
// EHC:         %hit = arith.cmpi eq, %tag, %number : i64
// EHC:         scf.if %hit -> (f32)
// EHC:       4 sets of 1 per thread; emulated hardware cache: by option

// One thread tells the others where the tile begins; copies are asynchronous.
// OTHER-LABEL: llvm.func @smooth
// OTHER:       accx.gang_threads [64 : i64]
// OTHER:       %a_start = accx.shared_tile "a_start" 8 : i64
// OTHER:       llvm.store %a_start_1, %a_start : i64
// OTHER:       accx.gang_barrier
// OTHER:       llvm.load %a_start :
// OTHER:       accx.copy_async {{.*}} 4 : i64 : !llvm.ptr to !llvm.ptr<3>
// OTHER:       accx.wait_copies
// OTHER-NEXT:  accx.gang_barrier

// On the host the directive stays a hint for the pass that makes CPU code.
// HOST-LABEL: llvm.func @smooth
// HOST:       acc.cache
llvm.func @smooth(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c1_i32 = arith.constant 1 : i32
  %c256_i32 = arith.constant 256 : i32
  acc.parallel num_gangs({%c1_i32 : i32}) num_workers(%c1_i32 : i32) vector_length(%c256_i32 : i32) {
    %c30 = arith.constant 30 : i32
    %c1 = arith.constant 1 : i32
    acc.loop gang vector control(%i : i32) = (%c30 : i32) to (%n : i32) step (%c1 : i32) {
      %back = arith.subi %i, %c30 : i32
      %lower = arith.extsi %back : i32 to i64
      %c61 = arith.constant 61 : i64
      %c4 = arith.constant 4 : i64
      %c0 = arith.constant 0 : i64
      %bounds = acc.bounds lowerbound(%lower : i64) extent(%c61 : i64) stride(%c4 : i64) startIdx(%c0 : i64) {strideInBytes = true}
      %view = acc.cache varPtr(%a : !llvm.ptr) varType(f32) bounds(%bounds) -> !llvm.ptr {name = "a"}
      %zero = arith.constant 0.000000e+00 : f32
      %next = arith.addi %i, %c1 : i32
      %end = arith.addi %next, %c30 : i32
      %sum = scf.for %j = %back to %end step %c1 iter_args(%s = %zero) -> (f32) : i32 {
        %p = llvm.getelementptr %view[%j] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %v = llvm.load %p : !llvm.ptr -> f32
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %sum, %q : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// -----

// A section that a sequential loop renews, and an index that is not proved to lie in it: two barriers
// per turn, and one comparison in front of the inner loop for both of its ends.
// CHECK-LABEL: llvm.func @tiles
// CHECK:       scf.for %t =
// CHECK:         accx.gang_barrier
// CHECK:         accx.gang_barrier
// CHECK:         %in_section = arith.cmpi ult
// CHECK:         %in_section_1 = arith.cmpi ult
// CHECK:         %in_sections_1 = arith.andi %in_sections, %in_section_1
// CHECK-NEXT:    scf.if %in_sections_1 -> (f32) {
// CHECK:           scf.for %j =
// CHECK-NOT:         arith.cmpi ult
// CHECK:             llvm.load %a_cached : !llvm.ptr<3>
// CHECK:         } else {
// CHECK:           scf.for %j
// CHECK:             %in_section_2 = arith.cmpi ult
// CHECK:             scf.if %in_section_2 -> (f32)
// CHECK:           } {accx.unroll = 1 : i32}
// CHECK:       range-based conservative: an index could not be proved to lie in the section
llvm.func @tiles(%n: i32, %m: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %one = arith.constant 1 : i32
  %lanes = arith.constant 128 : i32
  acc.parallel num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%lanes : i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %zero = arith.constant 0.000000e+00 : f32
      %all = scf.for %t = %c0 to %n step %c64 iter_args(%s = %zero) -> (f32) : i32 {
        %lower = arith.extsi %t : i32 to i64
        %length = arith.constant 64 : i64
        %c4 = arith.constant 4 : i64
        %first = arith.constant 0 : i64
        %bounds = acc.bounds lowerbound(%lower : i64) extent(%length : i64) stride(%c4 : i64) startIdx(%first : i64) {strideInBytes = true}
        %view = acc.cache varPtr(%a : !llvm.ptr) varType(f32) bounds(%bounds) -> !llvm.ptr {name = "a"}
        %end = arith.addi %t, %m : i32
        %sum = scf.for %j = %t to %end step %c1 iter_args(%u = %s) -> (f32) : i32 {
          %p = llvm.getelementptr %view[%j] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %p : !llvm.ptr -> f32
          %w = arith.addf %u, %v : f32
          scf.yield %w : f32
        }
        scf.yield %sum : f32
      }
      %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %all, %q : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// -----

// A small window is left to the L1 cache: the code is as if there were no directive.
// CHECK-LABEL: llvm.func @small
// CHECK-NOT:   accx.gang_threads
// CHECK-NOT:   acc.cache
// CHECK:       %p = llvm.getelementptr %a[%i]
// CHECK:       accx.remarks = [{text = "cache(a) left to the hardware caches: 1 reads of a small window per iteration: the L1 cache already serves them"
llvm.func @small(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
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
      %p = llvm.getelementptr %view[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %v, %q : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// -----

// A tile of 81020 bytes is more than a kernel may declare. Where the GPU has more, the launch asks for it;
// otherwise the loop is left alone, since an emulated cache is slower than the hardware's.
// CHECK-LABEL: llvm.func @large
// CHECK-NOT:   accx.shared_tile
// CHECK:       its tile of 81024 bytes does not fit into the 49152 bytes of shared memory of a gang, and an emulated cache would be slower than the hardware's
// LARGE-LABEL: llvm.func @large
// LARGE:       %a_tile = accx.shared_tile "a" 81020 : i64 {accx.dynamic = 0 : i64} : !llvm.ptr<3>
// LARGE:       cache(a) in dynamic shared memory: tile of 20255 elements
// OTHER-LABEL: llvm.func @large
// OTHER:       emulated hardware cache: a tile of 80272 bytes does not fit into shared memory
llvm.func @large(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %one = arith.constant 1 : i32
  %lanes = arith.constant 128 : i32
  acc.parallel num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%lanes : i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c20000 = arith.constant 20000 : i32
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %lower = arith.extsi %i : i32 to i64
      %length = arith.constant 20000 : i64
      %c4 = arith.constant 4 : i64
      %first = arith.constant 0 : i64
      %bounds = acc.bounds lowerbound(%lower : i64) extent(%length : i64) stride(%c4 : i64) startIdx(%first : i64) {strideInBytes = true}
      %view = acc.cache varPtr(%a : !llvm.ptr) varType(f32) bounds(%bounds) -> !llvm.ptr {name = "a", dataClause = #acc<data_clause acc_cache_readonly>}
      %end = arith.addi %i, %c20000 : i32
      %zero = arith.constant 0.000000e+00 : f32
      %sum = scf.for %j = %i to %end step %c1 iter_args(%s = %zero) -> (f32) : i32 {
        %p = llvm.getelementptr %view[%j] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %v = llvm.load %p : !llvm.ptr -> f32
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %sum, %q : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// -----

// Two sections of one array: each access goes to the tile of the section it lies in. The loop around
// reduces and its iterations share: every thread leaves what it has added up in an array of the gang,
// which a vector loop adds up for all.
// CHECK-LABEL: llvm.func @sections
// CHECK:       %s_1 = acc.reduction varPtr(%s : !llvm.ptr)
// CHECK:       %s_partials = llvm.alloca %{{.*}} x !llvm.array<256 x f32>
// CHECK:       acc.loop gang reduction(%s_1 : !llvm.ptr) control(%i : i32)
// CHECK:         accx.gang_threads [256 : i64] {
// CHECK:           %a_tile = accx.shared_tile "a" 1180 : i64
// CHECK:           %a_tile_1 = accx.shared_tile "a" 1180 : i64
// CHECK:           %s_partial = llvm.alloca
// CHECK:           %low = llvm.load %a_cached : !llvm.ptr<3>
// CHECK:           %high = llvm.load %a_cached_1 : !llvm.ptr<3>
// CHECK:           %s_2 = llvm.load %s_partial
// CHECK:           arith.select %active, %s_2
// CHECK:           accx.gang_barrier
// CHECK:         }
// CHECK:         %s_3 = acc.reduction varPtr(%s_1 : !llvm.ptr)
// CHECK:         acc.loop worker vector reduction(%s_3 : !llvm.ptr) control(%thread : i32)
acc.reduction.recipe @reduction_add_f32 : !llvm.ptr reduction_operator <add> init {
^bb0(%0: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  %first = arith.constant 0.0 : f32
  llvm.store %first, %copy : f32, !llvm.ptr
  acc.yield %copy : !llvm.ptr
} combiner {
^bb0(%1: !llvm.ptr, %2: !llvm.ptr):
  %x = llvm.load %1 : !llvm.ptr -> f32
  %y = llvm.load %2 : !llvm.ptr -> f32
  %both = arith.addf %x, %y : f32
  llvm.store %both, %1 : f32, !llvm.ptr
  acc.yield %1 : !llvm.ptr
}
llvm.func @sections(%n: i32, %a: !llvm.ptr, %s: !llvm.ptr) {
  %one = arith.constant 1 : i32
  %lanes = arith.constant 128 : i32
  acc.parallel num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%lanes : i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c1000 = arith.constant 1000 : i32
    %s_1 = acc.reduction varPtr(%s : !llvm.ptr) varType(f32) recipe(@reduction_add_f32) -> !llvm.ptr {name = "s"}
    acc.loop gang vector reduction(%s_1 : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %lower = arith.extsi %i : i32 to i64
      %up = arith.addi %i, %c1000 : i32
      %upper = arith.extsi %up : i32 to i64
      %length = arith.constant 40 : i64
      %c4 = arith.constant 4 : i64
      %first = arith.constant 0 : i64
      %bounds = acc.bounds lowerbound(%lower : i64) extent(%length : i64) stride(%c4 : i64) startIdx(%first : i64) {strideInBytes = true}
      %view = acc.cache varPtr(%a : !llvm.ptr) varType(f32) bounds(%bounds) -> !llvm.ptr {name = "a", dataClause = #acc<data_clause acc_cache_readonly>}
      %others = acc.bounds lowerbound(%upper : i64) extent(%length : i64) stride(%c4 : i64) startIdx(%first : i64) {strideInBytes = true}
      %both = acc.cache varPtr(%view : !llvm.ptr) varType(f32) bounds(%others) -> !llvm.ptr {name = "a", dataClause = #acc<data_clause acc_cache_readonly>}
      %end = arith.addi %i, %one : i32
      %c40 = arith.constant 40 : i32
      scf.for %j = %c0 to %c40 step %c1 : i32 {
        %x = arith.addi %i, %j : i32
        %y = arith.addi %up, %j : i32
        %p = llvm.getelementptr %both[%x] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %low = llvm.load %p : !llvm.ptr -> f32
        %q = llvm.getelementptr %both[%y] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %high = llvm.load %q : !llvm.ptr -> f32
        %t = arith.addf %low, %high : f32
        %old = llvm.load %s_1 : !llvm.ptr -> f32
        %new = arith.addf %old, %t : f32
        llvm.store %new, %s_1 : f32, !llvm.ptr
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}
