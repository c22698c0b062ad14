// RUN: accopt %s -p "group-combined-subscripts{reassociate=true side=4 versions=false}" | filecheck %s
// RUN: accopt %s -p "group-combined-subscripts{reassociate=true versions=false}" | filecheck %s --check-prefix=EIGHT
// RUN: accopt %s -p "group-combined-subscripts{versions=false}" | filecheck %s --check-prefix=ORDER
// RUN: accopt %s -p "group-combined-subscripts{reassociate=true side=4 lanes=8 elements=1 versions=false}" | filecheck %s --check-prefix=LANES
// RUN: accopt %s -p "group-combined-subscripts{reassociate=true}" | filecheck %s --check-prefix=SHORT
// RUN: accopt %s -p "group-combined-subscripts{reassociate=true side=1}" | filecheck %s --check-prefix=OFF
// RUN: accopt %s -p "group-combined-subscripts{reassociate=true target=host}" | filecheck %s --check-prefix=OFF

// OFF-NOT:     accx.why

// Four sums of four groups: four elements of a, four of b, sixteen products. What is not in a whole group
// runs on workers of its own, or after the lanes' sums.
// ORDER-LABEL: llvm.func @products
// ORDER:         %blocks = arith.divui
// ORDER:         acc.loop gang control(%block : i32)
// ORDER:           accx.gang_threads [128 : i64] {
// ORDER:             scf.if %full {
// ORDER:               %tile = accx.shared_tile "pieces" 4096
// ORDER:               scf.for %piece
// ORDER-NEXT:            accx.gang_barrier
// ORDER:                 llvm.store %a_j{{[_0-9]*}}, %staged{{[_0-9]*}} {alignment = 16 : i64}
// ORDER:                 accx.gang_barrier
// ORDER:                 scf.for %number
// ORDER:                   arith.xori
// ORDER-COUNT-16:          arith.mulf
// ORDER:                 accx.unroll = 8
// ORDER:             } else {
// ORDER:               scf.if %valid {
// ORDER:           accx.why = "groups of 4 iterations and 4 of the loops inside share their reads through tiles
// LANES-LABEL: llvm.func @products
// LANES:       acc.parallel num_gangs({%{{.*}} : i32}) num_workers(%c16{{[_0-9]*}} : i32) vector_length(%c8{{[_0-9]*}} : i32)
// LANES:         acc.loop vector
// LANES:           acc.yield
// LANES-NEXT:    } attributes {inclusive
// SHORT-LABEL: llvm.func @products
// SHORT:       %long = arith.cmpi sge
// SHORT-NEXT:  scf.if %long {
// SHORT:         acc.loop gang worker
// SHORT:       } else {
// SHORT:         acc.loop gang vector
// SHORT-NOT:     acc.loop
// SHORT:         accx.why = "for short loops inside"
// EIGHT-LABEL: llvm.func @products
// EIGHT:       num_workers(%c8{{[_0-9]*}} : i32) vector_length(%c16{{[_0-9]*}} : i32)
// EIGHT:         acc.loop vector
// EIGHT-COUNT-64:  arith.mulf
// EIGHT-NOT:       arith.mulf
// EIGHT:           acc.yield
// EIGHT-NEXT:    } attributes {inclusive
// CHECK:       acc.reduction.recipe @reduction_add_f32
// CHECK-LABEL: llvm.func @products
// CHECK:       acc.parallel num_gangs({%num_gangs : i32}) num_workers(%c4{{[_0-9]*}} : i32) vector_length(%c32{{[_0-9]*}} : i32)
// CHECK:         %aligned = arith.cmpi eq
// CHECK:         acc.loop gang worker control(%group : i32)
// CHECK:           scf.if %whole {
// CHECK:             scf.if %aligned {
// CHECK:               acc.loop vector reduction(%s_{{[0-9]+}}, %s_{{[0-9]+}}, %s_{{[0-9]+}}, %s_{{[0-9]+}} :
// CHECK:                 %a_j = llvm.load %p{{[_0-9]*}} {alignment = 16 : i64}
// CHECK-COUNT-3:         llvm.getelementptr inbounds %p
// CHECK:                 %[[X:x[_0-9]*]] = arith.xori
// CHECK-NEXT:            %q{{[_0-9]*}} = accx.element %b[%[[X]]]
// CHECK-NEXT:            llvm.load %q{{[_0-9]*}} {alignment = 16 : i64}
// CHECK-NOT:             arith.xori
// CHECK-COUNT-16:        arith.mulf
// CHECK-NOT:             arith.mulf
// CHECK:                 acc.yield
// CHECK-NEXT:          } attributes {accx.schedule = #accx.schedule<elements = 2>
// CHECK:             } else {
// CHECK:               acc.loop vector reduction
// CHECK-NOT:             alignment = 16
// CHECK:                 acc.yield
// CHECK:             scf.for %j{{[_0-9]*}} = %stop{{[_0-9]*}} to %m
// CHECK:             {accx.unroll = 1 : i32}
// CHECK-COUNT-4:     llvm.store %{{.*}}, %r
// CHECK:           } else {
// CHECK:             scf.if %single {
// CHECK:             acc.loop vector reduction(%s_{{[0-9]+}} :
// CHECK:             llvm.store %{{.*}}, %r
// CHECK:           accx.why = "groups of 4 iterations
llvm.func @products(%n: i32, %m: i32, %gangs: i32, %a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %z = arith.constant 0.0 : f32
  acc.parallel num_gangs({%gangs : i32}) num_workers(%c1 : i32) vector_length(%c64 : i32) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %sum = scf.for %j = %c0 to %m step %c1 iter_args(%s = %z) -> (f32) : i32 {
        %p = accx.element %a[%j] of f32 : i32
        %a_j = llvm.load %p : !llvm.ptr -> f32
        %x = arith.xori %i, %j : i32
        %q = accx.element %b[%x] of f32 : i32
        %w = llvm.load %q : !llvm.ptr -> f32
        %t = arith.mulf %a_j, %w : f32
        %u = arith.addf %s, %t : f32
        scf.yield %u : f32
      }
      %r = accx.element %c[%i] of f32 : i32
      llvm.store %sum, %r : f32, !llvm.ptr
      acc.yield
    } attributes {accx.schedule = #accx.schedule<covers>, independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// Integer sums may always be split. Bounds that are not multiples of four: a loop before the groups too. The
// user's number of gangs stays.
// ORDER-LABEL: llvm.func @integers
// ORDER:       accx.why = "groups of 8
// CHECK-LABEL: llvm.func @integers
// CHECK:       acc.parallel num_gangs({%gangs{{[_0-9]*}} : i32}) num_workers(%c4{{[_0-9]*}} : i32)
// CHECK:           scf.for %j{{[_0-9]*}} = %lower to %
// CHECK:           acc.loop vector
// CHECK:             arith.addi %s{{[_0-9]*}}, %w{{[_0-9]*}} : i32
// CHECK:           scf.for %j{{[_0-9]*}} = %stop
llvm.func @integers(%n: i32, %m: i32, %lower: i32, %gangs: i32, %a: !llvm.ptr, %c: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  acc.parallel num_gangs({%gangs : i32}) num_workers(%c1 : i32) vector_length(%c64 : i32) {
    acc.loop gang vector control(%i : i32) = (%lower : i32) to (%n : i32) step (%c1 : i32) {
      %sum = scf.for %j = %lower to %m step %c1 iter_args(%s = %i) -> (i32) : i32 {
        %x = arith.ori %i, %j : i32
        %q = accx.element %a[%x] of i32 : i32
        %w = llvm.load %q : !llvm.ptr -> i32
        %u = arith.addi %s, %w overflow<nsw> : i32
        scf.yield %u : i32
      }
      %r = accx.element %c[%i] of i32 : i32
      llvm.store %sum, %r : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// What is no sum, or a sum whose order is kept, over neighbours: a thread computes four in the program's order, and has
// loaded groups before their turn.
// ORDER-LABEL: llvm.func @factors
// ORDER:       acc.parallel num_gangs({%gangs{{[_0-9]*}} : i32}) num_workers(%c1{{[_0-9]*}} : i32) vector_length(%c128{{[_0-9]*}} : i32)
// ORDER:       acc.loop gang vector control(%group
// ORDER-COUNT-4: llvm.freeze
// ORDER:         scf.for {{.*}} iter_args({{.*}} -> ({{[i32, ]+}}) : i32 {
// ORDER:           llvm.freeze
// ORDER-COUNT-16:  %u{{[_0-9]*}} = arith.muli
// ORDER:         {accx.unroll = 4 : i32}
// ORDER:       accx.why = "groups of 4 iterations and 4 of the loops inside share their reads; one thread computes each sum sequentially"
llvm.func @factors(%n: i32, %gangs: i32, %a: !llvm.ptr, %c: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  acc.parallel num_gangs({%gangs : i32}) num_workers(%c1 : i32) vector_length(%c64 : i32) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%s = %i) -> (i32) : i32 {
        %x = arith.addi %i, %j overflow<nsw> : i32
        %q = accx.element %a[%x] of i32 : i32
        %w = llvm.load %q : !llvm.ptr -> i32
        %u = arith.muli %s, %w : i32
        scf.yield %u : i32
      }
      %r = accx.element %c[%i] of i32 : i32
      llvm.store %last, %r : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// Left alone: a gather, a loop that stores, sizes given by the user.
// CHECK-LABEL: llvm.func @left_alone
// CHECK-NOT:   accx.why
// CHECK:       llvm.return
llvm.func @left_alone(%n: i32, %gangs: i32, %a: !llvm.ptr, %c: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  acc.parallel num_gangs({%gangs : i32}) num_workers(%c1 : i32) vector_length(%c64 : i32) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %i) -> (i32) : i32 {
        %x = arith.xori %i, %j : i32
        %q = accx.element %a[%x] of i32 : i32
        %w = llvm.load %q : !llvm.ptr -> i32
        %p = accx.element %a[%w] of i32 : i32
        %v = llvm.load %p : !llvm.ptr -> i32
        %u = arith.addi %s, %v : i32
        scf.yield %u : i32
      }
      %stored = scf.for %j = %c0 to %n step %c1 iter_args(%s = %i) -> (i32) : i32 {
        %x = arith.xori %i, %j : i32
        %q = accx.element %a[%x] of i32 : i32
        %w = llvm.load %q : !llvm.ptr -> i32
        %u = arith.addi %s, %w : i32
        %r = accx.element %c[%i] of i32 : i32
        llvm.store %w, %r : i32, !llvm.ptr
        scf.yield %u : i32
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.parallel num_gangs({%gangs : i32}) num_workers(%c1 : i32) vector_length(%c64 : i32) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %i) -> (i32) : i32 {
        %x = arith.xori %i, %j : i32
        %q = accx.element %a[%x] of i32 : i32
        %w = llvm.load %q : !llvm.ptr -> i32
        %u = arith.addi %s, %w : i32
        scf.yield %u : i32
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  } attributes {accx.given_sizes = ["vector_length"]}
  llvm.return
}

// Loops with reductions, of which the program says that their sums may be split: no `reassociate` needed. A
// reduction other than a sum stays.
// ORDER-LABEL: llvm.func @reductions
// ORDER:       acc.loop gang worker
// ORDER:         scf.if %whole{{[_0-9]*}} {
// ORDER:           acc.loop vector reduction({{(%t[_0-9]*(, )?)*}} :
// ORDER:           llvm.store
// ORDER:         scf.if %single{{[_0-9]*}} {
// ORDER:           acc.loop vector reduction(%t{{[_0-9]*}} :
// ORDER:           acc.loop gang control
// ORDER-NOT:     scf.for
// ORDER:         acc.loop vector reduction(%s{{[_0-9]*}} :
acc.reduction.recipe @reduction_add_f64 : !llvm.ptr reduction_operator <add> init {
^bb0(%0: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x f64 : (i32) -> !llvm.ptr
  %first = arith.constant 0.0 : f64
  llvm.store %first, %copy : f64, !llvm.ptr
  acc.yield %copy : !llvm.ptr
} combiner {
^bb0(%1: !llvm.ptr, %2: !llvm.ptr):
  %x = llvm.load %1 : !llvm.ptr -> f64
  %y = llvm.load %2 : !llvm.ptr -> f64
  %both = arith.addf %x, %y : f64
  llvm.store %both, %1 : f64, !llvm.ptr
  acc.yield %1 : !llvm.ptr
}
acc.reduction.recipe @reduction_max_f64 : !llvm.ptr reduction_operator <max> init {
^bb0(%0: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x f64 : (i32) -> !llvm.ptr
  %first = arith.constant 0xFFF0000000000000 : f64
  llvm.store %first, %copy : f64, !llvm.ptr
  acc.yield %copy : !llvm.ptr
} combiner {
^bb0(%1: !llvm.ptr, %2: !llvm.ptr):
  %x = llvm.load %1 : !llvm.ptr -> f64
  %y = llvm.load %2 : !llvm.ptr -> f64
  %both = arith.maxnumf %x, %y : f64
  llvm.store %both, %1 : f64, !llvm.ptr
  acc.yield %1 : !llvm.ptr
}
llvm.func @reductions(%n: i32, %gangs: i32, %a: !llvm.ptr, %c: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  acc.parallel num_gangs({%gangs : i32}) num_workers(%c1 : i32) vector_length(%c64 : i32) {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %t = llvm.alloca %c1 x f64 : (i32) -> !llvm.ptr
      %s = acc.reduction varPtr(%t : !llvm.ptr) varType(f64) recipe(@reduction_add_f64) -> !llvm.ptr
      acc.loop vector reduction(%s : !llvm.ptr) control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %x = arith.xori %i, %j : i32
        %q = accx.element %a[%x] of f64 : i32
        %w = llvm.load %q : !llvm.ptr -> f64
        %old = llvm.load %s : !llvm.ptr -> f64
        %new = arith.addf %old, %w : f64
        llvm.store %new, %s : f64, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      %r = accx.element %c[%i] of f64 : i32
      %sum = llvm.load %t : !llvm.ptr -> f64
      llvm.store %sum, %r : f64, !llvm.ptr
      acc.yield
    } attributes {accx.schedule = #accx.schedule<covers>, independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.parallel num_gangs({%gangs : i32}) num_workers(%c1 : i32) vector_length(%c64 : i32) {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %t = llvm.alloca %c1 x f64 : (i32) -> !llvm.ptr
      %s = acc.reduction varPtr(%t : !llvm.ptr) varType(f64) recipe(@reduction_max_f64) -> !llvm.ptr
      acc.loop vector reduction(%s : !llvm.ptr) control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %x = arith.xori %i, %j : i32
        %q = accx.element %a[%x] of f64 : i32
        %w = llvm.load %q : !llvm.ptr -> f64
        %old = llvm.load %s : !llvm.ptr -> f64
        %new = arith.maxnumf %old, %w : f64
        llvm.store %new, %s : f64, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {accx.schedule = #accx.schedule<covers>, independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}
