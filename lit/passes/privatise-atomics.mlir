// RUN: accopt %s -p privatise-atomics | filecheck %s
// RUN: accopt %s -p "privatise-atomics{copies=4 gangs=100}" | filecheck %s --check-prefix FOUR

// A histogram of bytes: each gang counts in 32 copies of the bins, 16 bytes at a time, on a grid no
// larger than the device holds, and adds what it counted to the array.
// CHECK-LABEL: llvm.func @histogram
// CHECK:         %c792 = arith.constant 792 : i32
// CHECK:         %num_gangs = arith.minsi %{{.*}}, %c792 : i32
// CHECK:         acc.parallel {{.*}}num_gangs({%num_gangs : i32})
// CHECK:           %bins = llvm.alloca %{{.*}} x !llvm.array<8192 x i32>
// CHECK:           acc.loop worker vector control(%element : i32) = (%{{.*}} : i32) to (%c8192 : i32)
// CHECK:             llvm.store %{{.*}}, %bins_{{.*}} : i32
// CHECK:           acc.loop gang vector control(%group : i64) = (%{{.*}} : i64) to (%groups : i64)
// CHECK:             %whole = arith.cmpi sge, %left, %c16
// CHECK:             scf.if
// CHECK-NEXT:          %word = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> i64
// CHECK-NEXT:          %{{.*}} = llvm.getelementptr inbounds %{{.*}}[8]
// CHECK-NEXT:          %word_1 = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK-COUNT-16:      acc.atomic.update %bins_{{.*}} : !llvm.ptr {
// CHECK:             } else {
// CHECK:               scf.for %i
// CHECK:                 llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK:                 %copy_{{.*}} = arith.andi %group, %c31{{.*}} : i64
// CHECK:                 acc.atomic.update %bins_{{.*}} : !llvm.ptr {
// CHECK-NOT:       covers
// CHECK:           accx.why = "a stream; groups of 16 iterations read 16 bytes at once; updates of bins in shared memory, 32 copies in each gang"
// CHECK:           acc.loop worker vector control(%element_{{.*}} : i32) = (%{{.*}} : i32) to (%c256{{.*}} : i32)
// CHECK:             %total = scf.for
// CHECK:             %changed = arith.cmpi ne, %total,
// CHECK:             scf.if %changed {
// CHECK:               %[[P:.*]] = llvm.getelementptr %b[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i32
// CHECK-NEXT:          acc.atomic.update %[[P]] : !llvm.ptr {
// CHECK:                 arith.addi %{{.*}}, %total : i32
// FOUR-LABEL: llvm.func @histogram
// FOUR:         arith.minsi %{{.*}}, %c100 : i32
// FOUR:         llvm.alloca %{{.*}} x !llvm.array<1024 x i32>
llvm.func @histogram(%n: i64, %g: i32, %data: !llvm.ptr, %hist: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %lanes = arith.constant 256 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %size = arith.constant 256 : i64
  %section = acc.bounds lowerbound(%zero : i64) extent(%size : i64) stride(%four : i64) startIdx(%zero : i64) {strideInBytes = true}
  %d = acc.present varPtr(%data : !llvm.ptr) varType(i8) -> !llvm.ptr {name = "data"}
  %b = acc.present varPtr(%hist : !llvm.ptr) varType(i32) bounds(%section) -> !llvm.ptr {name = "bins"}
  acc.parallel dataOperands(%d, %b : !llvm.ptr, !llvm.ptr) num_gangs({%g : i32}) num_workers(%c1 : i32) vector_length(%lanes : i32) {
    acc.loop gang vector control(%i : i64) = (%zero : i64) to (%n : i64) step (%one : i64) {
      %p = accx.element %d[%i] of i8 : i64
      %v = llvm.load %p : !llvm.ptr -> i8
      %k = arith.extui %v : i8 to i64
      %q = accx.element %b[%k] of i32 : i64
      acc.atomic.update %q : !llvm.ptr {
      ^bb0(%old: i32):
        %more = arith.constant 1 : i32
        %new = arith.addi %old, %more : i32
        acc.yield %new : i32
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<elements = 4, covers>, accx.why = "a stream"}
    acc.yield
  }
  acc.delete accPtr(%b : !llvm.ptr) bounds(%section) {name = "bins"}
  acc.delete accPtr(%d : !llvm.ptr) {name = "data"}
  llvm.return
}

// A maximum over a section that starts at element 8, of 64-bit counters; a grid the user gave stays.
// CHECK-LABEL: llvm.func @maximum
// CHECK-NOT:     num_gangs = arith
// CHECK:         acc.parallel {{.*}}num_gangs({%g{{.*}} : i32})
// CHECK:           %most = llvm.alloca %{{.*}} x !llvm.array<512 x i64>
// CHECK:           arith.constant -9223372036854775808 : i64
// CHECK:           arith.subi %{{.*}}, %c8{{.*}} : i64
// CHECK:           acc.atomic.update %most_
// CHECK:           arith.maxsi %sum{{.*}}, %part{{.*}} : i64
// CHECK:           arith.addi %{{.*}}, %c8{{.*}} : i64
// CHECK:           acc.atomic.update
// CHECK:             arith.maxsi %{{.*}}, %total{{.*}} : i64
llvm.func @maximum(%n: i32, %g: i32, %x: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %lanes = arith.constant 128 : i32
  %zero = arith.constant 0 : i64
  %eight = arith.constant 8 : i64
  %size = arith.constant 16 : i64
  %part = acc.bounds lowerbound(%eight : i64) extent(%size : i64) stride(%eight : i64) startIdx(%zero : i64) {strideInBytes = true}
  %m = acc.copyin varPtr(%x : !llvm.ptr) varType(i64) bounds(%part) -> !llvm.ptr {name = "most"}
  acc.parallel dataOperands(%m : !llvm.ptr) num_gangs({%g : i32}) num_workers(%c1 : i32) vector_length(%lanes : i32) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %w = arith.extsi %i : i32 to i64
      %k = arith.remsi %w, %eight : i64
      %e = arith.addi %k, %eight : i64
      %q = accx.element %m[%e] of i64 : i64
      acc.atomic.update %q : !llvm.ptr {
      ^bb0(%old: i64):
        %new = arith.maxsi %old, %w : i64
        acc.yield %new : i64
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  } attributes {accx.given_sizes = ["num_gangs"]}
  acc.copyout accPtr(%m : !llvm.ptr) bounds(%part) to varPtr(%x : !llvm.ptr) varType(i64) {name = "most"}
  llvm.return
}

// Not privatised: an array that is read too, one that is too large, two operators, a product (no
// single atomic operation), an update outside of gang loops, and few updates.
// CHECK-LABEL: llvm.func @others
// CHECK-NOT:     llvm.alloca
// CHECK:         llvm.return
llvm.func @others(%n: i32, %x: !llvm.ptr, %v: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c30 = arith.constant 30 : i32
  %lanes = arith.constant 128 : i32
  %read = acc.copyin varPtr(%x : !llvm.ptr) varType(!llvm.array<8 x i32>) -> !llvm.ptr {name = "read"}
  %zero = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %most = arith.constant 5000 : i64
  %eight = arith.constant 8 : i64
  %all = acc.bounds lowerbound(%zero : i64) extent(%most : i64) stride(%four : i64) startIdx(%zero : i64) {strideInBytes = true}
  %some = acc.bounds lowerbound(%zero : i64) extent(%eight : i64) stride(%four : i64) startIdx(%zero : i64) {strideInBytes = true}
  %large = acc.copyin varPtr(%x : !llvm.ptr) varType(i32) bounds(%all) -> !llvm.ptr {name = "large"}
  %two = acc.copyin varPtr(%x : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "two"}
  %product = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "product"}
  %gangs = acc.copyin varPtr(%x : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "gangs"}
  %few = acc.copyin varPtr(%x : !llvm.ptr) varType(i32) bounds(%some) -> !llvm.ptr {name = "few"}
  acc.parallel dataOperands(%read, %large, %two, %product, %gangs, %few : !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) num_gangs({%c30 : i32}) num_workers(%c1 : i32) vector_length(%lanes : i32) {
    acc.atomic.update %gangs : !llvm.ptr {
    ^bb0(%old: i32):
      %new = arith.addi %old, %c1 : i32
      acc.yield %new : i32
    }
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %r = llvm.load %read : !llvm.ptr -> i32
      acc.atomic.update %read : !llvm.ptr {
      ^bb0(%old: i32):
        %new = arith.addi %old, %r : i32
        acc.yield %new : i32
      }
      acc.atomic.update %large : !llvm.ptr {
      ^bb0(%old: i32):
        %new = arith.addi %old, %i : i32
        acc.yield %new : i32
      }
      acc.atomic.update %two : !llvm.ptr {
      ^bb0(%old: i32):
        %new = arith.addi %old, %i : i32
        acc.yield %new : i32
      }
      acc.atomic.update %two : !llvm.ptr {
      ^bb0(%old: i32):
        %new = arith.ori %old, %i : i32
        acc.yield %new : i32
      }
      acc.atomic.update %product : !llvm.ptr {
      ^bb0(%old: f32):
        %new = arith.mulf %old, %v : f32
        acc.yield %new : f32
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%c30 : i32) step (%c1 : i32) {
      acc.atomic.update %few : !llvm.ptr {
      ^bb0(%old: i32):
        %new = arith.addi %old, %i : i32
        acc.yield %new : i32
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// As many counters as the host says: a version for few, whose copies depend on how few, and the
// construct as it is.
// CHECK-LABEL: llvm.func @by_size
// CHECK:         %[[LESS:.*]] = arith.subi %m{{.*}},
// CHECK:         %small = arith.cmpi ult, %[[LESS]], %c4096{{.*}} : i64
// CHECK:         scf.if %small {
// CHECK-COUNT-5:   %copies{{.*}} = arith.select
// CHECK:           acc.parallel
// CHECK:             %hist{{.*}} = llvm.alloca %{{.*}} x !llvm.array<8192 x i32>
// CHECK:             acc.atomic.update %hist_
// CHECK:           accx.why = "updates of hist in shared memory, several copies in each gang"
// CHECK:         } else {
// CHECK-NOT:       llvm.alloca
// CHECK:           acc.parallel
// CHECK-NOT:       llvm.alloca
// CHECK:           acc.atomic.update %{{.*}} : !llvm.ptr
// CHECK:         acc.copyout
llvm.func @by_size(%n: i32, %m: i64, %g: i32, %x: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %lanes = arith.constant 128 : i32
  %zero = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %section = acc.bounds lowerbound(%zero : i64) extent(%m : i64) stride(%four : i64) startIdx(%zero : i64) {strideInBytes = true}
  %h = acc.copyin varPtr(%x : !llvm.ptr) varType(i32) bounds(%section) -> !llvm.ptr {name = "hist"}
  acc.parallel dataOperands(%h : !llvm.ptr) num_gangs({%g : i32}) num_workers(%c1 : i32) vector_length(%lanes : i32) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %k = arith.extsi %i : i32 to i64
      %q = accx.element %h[%k] of i32 : i64
      acc.atomic.update %q : !llvm.ptr {
      ^bb0(%old: i32):
        %new = arith.addi %old, %i : i32
        acc.yield %new : i32
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.copyout accPtr(%h : !llvm.ptr) bounds(%section) to varPtr(%x : !llvm.ptr) varType(i32) {name = "hist"}
  llvm.return
}

// Present without a section: the runtime says what is mapped, which must begin where the pointer points, as subscripts may
// be negative.
// CHECK-LABEL: llvm.func @by_mapping
// CHECK:         llvm.call @__accopt_extent(%{{.*}}, %hist_extent{{.*}})
// CHECK:         %[[AT:.*]] = llvm.ptrtoint
// CHECK:         %[[BYTES:.*]] = arith.subi %hist_end{{.*}}, %hist_begin
// CHECK:         %[[ALL:.*]] = arith.divui %[[BYTES]]
// CHECK:         %[[WHOLE:.*]] = arith.cmpi eq, %[[AT]], %hist_begin
// CHECK:         %hist_elements{{.*}} = arith.select %[[WHOLE]], %[[ALL]]
// CHECK:         %small{{.*}} = arith.cmpi ult
// CHECK:         scf.if %small
// CHECK:           llvm.alloca
// CHECK:         } else {
// CHECK-NOT:       llvm.alloca
// CHECK:         llvm.return
llvm.func @by_mapping(%n: i32, %g: i32, %x: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %lanes = arith.constant 128 : i32
  %h = acc.present varPtr(%x : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "hist"}
  acc.parallel dataOperands(%h : !llvm.ptr) num_gangs({%g : i32}) num_workers(%c1 : i32) vector_length(%lanes : i32) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %k = arith.extsi %i : i32 to i64
      %q = accx.element %h[%k] of i32 : i64
      acc.atomic.update %q : !llvm.ptr {
      ^bb0(%old: i32):
        %new = arith.addi %old, %i : i32
        acc.yield %new : i32
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}
