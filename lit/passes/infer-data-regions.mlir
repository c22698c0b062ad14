// RUN: accopt %s -p 'infer-data-regions{runs=true}' | filecheck %s
// RUN: accopt %s -p 'infer-data-regions{enabled=false}' | filecheck %s --check-prefix=OFF

// OFF-NOT: acc.data
// OFF-NOT: accx.data_region

llvm.mlir.global internal @table() : !llvm.array<64 x f32> {
  %z = llvm.mlir.zero : !llvm.array<64 x f32>
  llvm.return %z : !llvm.array<64 x f32>
}
llvm.func @unknown()
llvm.func @sqrt(f64) -> f64

// A loop: what every iteration maps is held around it, if there is an iteration. Sections are
// computed before the loop; what is only read is not copied back. The loop's own value, which code
// behind it uses, goes through a local variable.
// CHECK-LABEL: llvm.func @loop
// CHECK:         %[[SLOT:.*]] = llvm.alloca
// CHECK:         %runs = arith.cmpi slt, %c0, %steps : i32
// CHECK:         %[[B:.*]] = acc.bounds lowerbound(%{{.*}} : i64) extent(%n : i64)
// CHECK:         %x_region = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%[[B]]) -> !llvm.ptr {accx.inferred, dataClause = #acc<data_clause acc_copy>, name = "x"}
// CHECK:         %y_region = acc.copyin varPtr(%y : !llvm.ptr) varType(f32) bounds(%[[B]]) -> !llvm.ptr {accx.inferred, name = "y"}
// CHECK:         acc.data if(%runs) dataOperands(%x_region, %y_region : !llvm.ptr, !llvm.ptr) {
// CHECK:           scf.for
// CHECK:             acc.copyin varPtr(%x
// CHECK:             acc.parallel
// CHECK:           llvm.store %{{.*}}, %[[SLOT]]
// CHECK:         } attributes {accx.inferred, accx.data_region = "data region inferred around this loop: copy(x) copyin(y)"}
// CHECK:         acc.delete accPtr(%y_region : !llvm.ptr) bounds(%[[B]])
// CHECK:         acc.copyout accPtr(%x_region : !llvm.ptr) bounds(%[[B]]) to varPtr(%x : !llvm.ptr)
// CHECK:         %[[K:.*]] = llvm.load %[[SLOT]]
// CHECK:         llvm.return %[[K]]
llvm.func @loop(%n: i64, %steps: i32, %x: !llvm.ptr, %y: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last = scf.for %t = %c0 to %steps step %c1 iter_args(%k = %c0) -> (i32) : i32 {
    %zero = arith.constant 0 : i64
    %four = arith.constant 4 : i64
    %b = acc.bounds lowerbound(%zero : i64) extent(%n : i64) stride(%four : i64) startIdx(%zero : i64) {strideInBytes = true}
    %xd = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%b) -> !llvm.ptr {name = "x", dataClause = #acc<data_clause acc_copy>}
    %yd = acc.copyin varPtr(%y : !llvm.ptr) varType(f32) bounds(%b) -> !llvm.ptr {name = "y"}
    acc.parallel dataOperands(%xd, %yd : !llvm.ptr, !llvm.ptr) {
      %v = llvm.load %yd : !llvm.ptr -> f32
      llvm.store %v, %xd : f32, !llvm.ptr
      acc.yield
    }
    acc.delete accPtr(%yd : !llvm.ptr) bounds(%b) {name = "y"}
    acc.copyout accPtr(%xd : !llvm.ptr) bounds(%b) to varPtr(%x : !llvm.ptr) varType(f32) {name = "x", dataClause = #acc<data_clause acc_copy>}
    scf.yield %t : i32
  }
  llvm.return %last : i32
}

// Two constructs on different sections of one array: the region spans both, unless one is empty
// or there is a gap between them.
// CHECK-LABEL: llvm.func @run
// CHECK-SAME:      (%a: i64, %[[B:.*]]: i64, %[[N:.*]]: i64,
// CHECK:         %[[E1:.*]] = arith.addi %a, %[[N]] : i64
// CHECK:         %[[E2:.*]] = arith.addi %[[B]], %[[N]] : i64
// CHECK:         %[[LO:.*]] = arith.minsi %a, %[[B]] : i64
// CHECK:         %[[HI:.*]] = arith.maxsi %[[E1]], %[[E2]] : i64
// CHECK:         %[[SUM:.*]] = arith.addi %[[N]], %[[N]] : i64
// CHECK:         %extent = arith.subi %[[HI]], %[[LO]] : i64
// CHECK:         %[[P:.*]] = arith.cmpi slt, %a, %[[E1]] : i64
// CHECK:         %[[Q:.*]] = arith.cmpi slt, %[[B]], %[[E2]] : i64
// CHECK:         %[[R:.*]] = arith.cmpi sle, %extent, %[[SUM]] : i64
// CHECK:         %x_bounds = acc.bounds lowerbound(%[[LO]] : i64) extent(%extent : i64)
// CHECK:         %[[PQ:.*]] = arith.andi %[[P]], %[[Q]] : i1
// CHECK:         %[[IF:.*]] = arith.andi %[[PQ]], %[[R]] : i1
// CHECK:         acc.data if(%[[IF]]) dataOperands(%x_region{{.*}} : !llvm.ptr) {
// CHECK:           acc.parallel
// CHECK:           acc.parallel
// CHECK:         accx.data_region = "data region inferred around the constructs from here on: copy(x)"
llvm.func @run(%a: i64, %b: i64, %n: i64, %x: !llvm.ptr) {
  %zero = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %s = acc.bounds lowerbound(%a : i64) extent(%n : i64) stride(%four : i64) startIdx(%zero : i64) {strideInBytes = true}
  %xd = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%s) -> !llvm.ptr {name = "x", dataClause = #acc<data_clause acc_copy>}
  acc.parallel dataOperands(%xd : !llvm.ptr) {
    acc.yield
  }
  acc.copyout accPtr(%xd : !llvm.ptr) bounds(%s) to varPtr(%x : !llvm.ptr) varType(f32) {name = "x", dataClause = #acc<data_clause acc_copy>}
  %t = acc.bounds lowerbound(%b : i64) extent(%n : i64) stride(%four : i64) startIdx(%zero : i64) {strideInBytes = true}
  %xe = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%t) -> !llvm.ptr {name = "x", dataClause = #acc<data_clause acc_copy>}
  acc.parallel dataOperands(%xe : !llvm.ptr) {
    acc.yield
  }
  acc.copyout accPtr(%xe : !llvm.ptr) bounds(%t) to varPtr(%x : !llvm.ptr) varType(f32) {name = "x", dataClause = #acc<data_clause acc_copy>}
  llvm.return
}

// What the host reads between constructs must come back each time; what the device only reads may be
// read on the host too.
// CHECK-LABEL: llvm.func @host_reads
// CHECK:         acc.data
// CHECK:         accx.data_region = "data region inferred around this loop: copyin(table); not x: host code at line {{[0-9]+}} reads it, or may"
llvm.func @host_reads(%steps: i32, %x: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %table = llvm.mlir.addressof @table : !llvm.ptr
  scf.for %t = %c0 to %steps step %c1 : i32 {
    %zero = arith.constant 0 : i64
    %four = arith.constant 4 : i64
    %b = acc.bounds lowerbound(%zero : i64) extent(%four : i64) stride(%four : i64) startIdx(%zero : i64) {strideInBytes = true}
    %xd = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%b) -> !llvm.ptr {name = "x", dataClause = #acc<data_clause acc_copy>}
    %td = acc.copyin varPtr(%table : !llvm.ptr) varType(!llvm.array<64 x f32>) -> !llvm.ptr {name = "table"}
    acc.parallel dataOperands(%xd, %td : !llvm.ptr, !llvm.ptr) {
      acc.yield
    }
    acc.delete accPtr(%td : !llvm.ptr) {name = "table"}
    acc.copyout accPtr(%xd : !llvm.ptr) bounds(%b) to varPtr(%x : !llvm.ptr) varType(f32) {name = "x", dataClause = #acc<data_clause acc_copy>}
    %h = llvm.load %x : !llvm.ptr -> f32
    %g = llvm.load %table : !llvm.ptr -> f32
  }
  llvm.return
}

// Left alone: a call that may do anything; a construct that may not run; one that drops what it
// writes; an asynchronous one; an address that changes; a construct that expects the data there.
// CHECK-LABEL: llvm.func @refusals
// CHECK-NOT:     acc.data
// CHECK:         accx.data_region = "no data region is inferred around this loop: table: a call of 'unknown' at line
// CHECK:         accx.data_region = "no data region is inferred around this loop: table: line {{[0-9]+}} may not run"
// CHECK:         accx.data_region = "no data region is inferred around this loop: table: line {{[0-9]+}} changes an array that it copies in"
// CHECK:         accx.data_region = "no data region is inferred around this loop: table: a construct with an async or wait clause at line
// CHECK:         accx.data_region = "no data region is inferred around this loop: p: its address at line {{[0-9]+}} is not known before"
// CHECK:         accx.data_region = "no data region is inferred around this loop: table: line {{[0-9]+}} expects it on the device"
llvm.func @refusals(%steps: i32, %c: i1, %x: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %table = llvm.mlir.addressof @table : !llvm.ptr
  scf.for %t = %c0 to %steps step %c1 : i32 {
    %td = acc.copyin varPtr(%table : !llvm.ptr) varType(!llvm.array<64 x f32>) -> !llvm.ptr {name = "table"}
    acc.parallel dataOperands(%td : !llvm.ptr) {
      acc.yield
    }
    acc.delete accPtr(%td : !llvm.ptr) {name = "table"}
    llvm.call @unknown() : () -> ()
  }
  scf.for %t = %c0 to %steps step %c1 : i32 {
    scf.if %c {
      %td = acc.copyin varPtr(%table : !llvm.ptr) varType(!llvm.array<64 x f32>) -> !llvm.ptr {name = "table"}
      acc.parallel dataOperands(%td : !llvm.ptr) {
        acc.yield
      }
      acc.delete accPtr(%td : !llvm.ptr) {name = "table"}
    }
  }
  scf.for %t = %c0 to %steps step %c1 : i32 {
    %td = acc.copyin varPtr(%table : !llvm.ptr) varType(!llvm.array<64 x f32>) -> !llvm.ptr {name = "table"}
    acc.parallel dataOperands(%td : !llvm.ptr) {
      %v = llvm.load %td : !llvm.ptr -> f32
      llvm.store %v, %td : f32, !llvm.ptr
      acc.yield
    }
    acc.delete accPtr(%td : !llvm.ptr) {name = "table"}
  }
  scf.for %t = %c0 to %steps step %c1 : i32 {
    %td = acc.copyin varPtr(%table : !llvm.ptr) varType(!llvm.array<64 x f32>) -> !llvm.ptr {name = "table"}
    acc.parallel dataOperands(%td : !llvm.ptr) async(%c1 : i32) {
      acc.yield
    }
    acc.delete accPtr(%td : !llvm.ptr) {name = "table"}
  }
  %end = scf.for %t = %c0 to %steps step %c1 iter_args(%p = %x) -> (!llvm.ptr) : i32 {
    %pd = acc.copyin varPtr(%p : !llvm.ptr) varType(!llvm.array<64 x f32>) -> !llvm.ptr {name = "p"}
    acc.parallel dataOperands(%pd : !llvm.ptr) {
      acc.yield
    }
    acc.delete accPtr(%pd : !llvm.ptr) {name = "p"}
    %q = llvm.getelementptr %p[%c1] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    scf.yield %q : !llvm.ptr
  }
  scf.for %t = %c0 to %steps step %c1 : i32 {
    %td = acc.copyin varPtr(%table : !llvm.ptr) varType(!llvm.array<64 x f32>) -> !llvm.ptr {name = "table"}
    %te = acc.present varPtr(%table : !llvm.ptr) varType(!llvm.array<64 x f32>) -> !llvm.ptr {name = "table"}
    acc.parallel dataOperands(%td : !llvm.ptr) {
      acc.yield
    }
    acc.parallel dataOperands(%te : !llvm.ptr) {
      acc.yield
    }
    acc.delete accPtr(%te : !llvm.ptr) {name = "table"}
    acc.delete accPtr(%td : !llvm.ptr) {name = "table"}
  }
  llvm.return
}

// A loop with a condition: it is asked once more, before the region.
// CHECK-LABEL: llvm.func @while
// CHECK:         %[[V:.*]] = llvm.load %err : !llvm.ptr -> f64
// CHECK:         %[[R:.*]] = llvm.call @sqrt(%[[V]])
// CHECK:         %[[C:.*]] = arith.cmpf ogt, %[[R]], %{{.*}} : f64
// CHECK:         acc.data if(%[[C]])
// CHECK:           scf.while
llvm.func @while(%tol: f64) {
  %c1 = arith.constant 1 : i32
  %table = llvm.mlir.addressof @table : !llvm.ptr
  %err = llvm.alloca %c1 x f64 : (i32) -> !llvm.ptr
  scf.while () : () -> () {
    %v = llvm.load %err : !llvm.ptr -> f64
    %r = llvm.call @sqrt(%v) : (f64) -> f64
    %more = arith.cmpf ogt, %r, %tol : f64
    scf.condition(%more)
  } do {
    %td = acc.copyin varPtr(%table : !llvm.ptr) varType(!llvm.array<64 x f32>) -> !llvm.ptr {name = "table", dataClause = #acc<data_clause acc_copy>}
    acc.parallel dataOperands(%td : !llvm.ptr) {
      acc.yield
    }
    acc.copyout accPtr(%td : !llvm.ptr) to varPtr(%table : !llvm.ptr) varType(!llvm.array<64 x f32>) {name = "table", dataClause = #acc<data_clause acc_copy>}
    llvm.store %tol, %err : f64, !llvm.ptr
    scf.yield
  }
  llvm.return
}

// A loop left by a jump becomes an operation; its first condition is asked before the region.
// CHECK-LABEL: llvm.func @left_by_a_jump
// CHECK:         cf.br ^[[DOOR:.*]]
// CHECK:         %[[K:.*]] = llvm.load %it
// CHECK:         %[[C:.*]] = arith.cmpi slt, %[[K]]
// CHECK:         acc.data if(%[[C]])
// CHECK:           scf.execute_region
// CHECK:             acc.parallel
// CHECK:         accx.data_region = "data region inferred around this loop: copy(table)"
// CHECK:         acc.copyout
// CHECK:         cf.br
llvm.func @left_by_a_jump(%n: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %it = llvm.alloca %c1 x i32 : (i32) -> !llvm.ptr
  %table = llvm.mlir.addressof @table : !llvm.ptr
  llvm.store %c0, %it : i32, !llvm.ptr
  cf.br ^head
^head:
  %k = llvm.load %it : !llvm.ptr -> i32
  %more = arith.cmpi slt, %k, %n : i32
  cf.cond_br %more, ^body, ^end
^body:
  %td = acc.copyin varPtr(%table : !llvm.ptr) varType(!llvm.array<64 x f32>) -> !llvm.ptr {name = "table", dataClause = #acc<data_clause acc_copy>}
  acc.parallel dataOperands(%td : !llvm.ptr) {
    acc.yield
  }
  acc.copyout accPtr(%td : !llvm.ptr) to varPtr(%table : !llvm.ptr) varType(!llvm.array<64 x f32>) {name = "table", dataClause = #acc<data_clause acc_copy>}
  cf.cond_br %c, ^end, ^next
^next:
  %l = arith.addi %k, %c1 : i32
  llvm.store %l, %it : i32, !llvm.ptr
  cf.br ^head
^end:
  llvm.return
}

// An array with one clause takes no part, and may be a wider part of one with two: nothing is held.
// CHECK-LABEL: llvm.func @left_out
// CHECK-NOT:     acc.data
// CHECK:         llvm.return
llvm.func @left_out(%n: i64, %x: !llvm.ptr, %y: !llvm.ptr) {
  %zero = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %b = acc.bounds lowerbound(%zero : i64) extent(%n : i64) stride(%four : i64) startIdx(%zero : i64) {strideInBytes = true}
  %xd = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%b) -> !llvm.ptr {name = "x", dataClause = #acc<data_clause acc_copy>}
  acc.parallel dataOperands(%xd : !llvm.ptr) {
    acc.yield
  }
  acc.copyout accPtr(%xd : !llvm.ptr) bounds(%b) to varPtr(%x : !llvm.ptr) varType(f32) {name = "x", dataClause = #acc<data_clause acc_copy>}
  %yd = acc.copyin varPtr(%y : !llvm.ptr) varType(f32) bounds(%b) -> !llvm.ptr {name = "y", dataClause = #acc<data_clause acc_copy>}
  acc.parallel dataOperands(%yd : !llvm.ptr) {
    acc.yield
  }
  acc.copyout accPtr(%yd : !llvm.ptr) bounds(%b) to varPtr(%y : !llvm.ptr) varType(f32) {name = "y", dataClause = #acc<data_clause acc_copy>}
  %xe = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%b) -> !llvm.ptr {name = "x", dataClause = #acc<data_clause acc_copy>}
  acc.parallel dataOperands(%xe : !llvm.ptr) {
    acc.yield
  }
  acc.copyout accPtr(%xe : !llvm.ptr) bounds(%b) to varPtr(%x : !llvm.ptr) varType(f32) {name = "x", dataClause = #acc<data_clause acc_copy>}
  llvm.return
}
