// RUN: accopt %s -p lower-scf-to-cf | filecheck %s

// The example of the pass: a loop becomes header, body and a branch back.
llvm.func @loop(%lb: i64, %ub: i64, %s: i64) {
  scf.for %i = %lb to %ub step %s : i64 {
    "test.op"(%i) : (i64) -> ()
  }
  llvm.return
}
// CHECK-LABEL: llvm.func @loop
// CHECK:         cf.br ^[[HEADER:.*]](%lb : i64)
// CHECK-NEXT:  ^[[HEADER]](%i: i64):
// CHECK-NEXT:    %[[MORE:more.*]] = arith.cmpi slt, %i, %ub : i64
// CHECK-NEXT:    cf.cond_br %[[MORE]], ^[[BODY:.*]], ^[[DONE:.*]]
// CHECK-NEXT:  ^[[BODY]]:
// CHECK-NEXT:    "test.op"(%i) : (i64) -> ()
// CHECK-NEXT:    %[[NEXT:.*]] = arith.addi %i, %s overflow<nsw> : i64
// CHECK-NEXT:    cf.br ^[[HEADER]](%[[NEXT]] : i64)
// CHECK-NEXT:  ^[[DONE]]:
// CHECK-NEXT:    llvm.return

// Properties of a loop move to the branch that closes it, also around nested control flow.
llvm.func @properties(%nc: i64, %cc: i1) -> i64 {
  %zeroc = arith.constant 0 : i64
  %onec = arith.constant 1 : i64
  %rc = scf.for %ic = %zeroc to %nc step %onec iter_args(%sumc = %zeroc) -> (i64) : i64 {
    %tc = scf.if %cc -> (i64) {
      %uc = arith.addi %sumc, %ic : i64
      scf.yield %uc : i64
    } else {
      scf.yield %sumc : i64
    }
    scf.yield %tc : i64
  } {accx.simd, accx.unroll = 4 : i32, accx.access_groups = [0 : i32]}
  llvm.return %rc : i64
}
// CHECK-LABEL: llvm.func @properties
// CHECK:         cf.cond_br %{{more.*}}, ^[[BODY:.*]], ^[[DONE:.*]]
// CHECK-NEXT:  ^[[BODY]]:
// CHECK-NEXT:    cf.cond_br %cc, ^[[THEN:.*]], ^[[ELSE:.*]]
// CHECK-NEXT:  ^[[THEN]]:
// CHECK-NEXT:    %uc = arith.addi
// CHECK-NEXT:    cf.br ^[[JOIN:.*]](%uc : i64)
// CHECK-NEXT:  ^[[ELSE]]:
// CHECK-NEXT:    cf.br ^[[JOIN]](%sumc : i64)
// CHECK-NEXT:  ^[[JOIN]](%tc: i64):
// CHECK-NEXT:    %[[NEXT:.*]] = arith.addi %ic, %onec overflow<nsw>
// CHECK-NEXT:    cf.br ^{{.*}}(%[[NEXT]], %tc : i64, i64) {accx.simd, accx.unroll = 4 : i32, accx.access_groups = [0 : i32]}
// CHECK-NEXT:  ^[[DONE]]:
// CHECK-NEXT:    llvm.return %sumc : i64

// A while loop tests in the middle; what the condition passes on reaches both ways out.
llvm.func @while(%ad: i64) -> i64 {
  %rd = scf.while (%xd = %ad) : (i64) -> i64 {
    %cd = "test.op"(%xd) : (i64) -> i1
    scf.condition(%cd) %xd : i64
  } do {
  ^bb0(%yd: i64):
    %zd = "test.op"(%yd) : (i64) -> i64
    scf.yield %zd : i64
  }
  llvm.return %rd : i64
}
// CHECK-LABEL: llvm.func @while
// CHECK:         cf.br ^[[BEFORE:.*]](%ad : i64)
// CHECK-NEXT:  ^[[BEFORE]](%xd: i64):
// CHECK-NEXT:    %cd = "test.op"(%xd) : (i64) -> i1
// CHECK-NEXT:    cf.cond_br %cd, ^[[AFTER:.*]](%xd : i64), ^[[DONE:.*]](%xd : i64)
// CHECK-NEXT:  ^[[AFTER]](%yd: i64):
// CHECK-NEXT:    %zd = "test.op"(%yd) : (i64) -> i64
// CHECK-NEXT:    cf.br ^[[BEFORE]](%zd : i64)
// CHECK-NEXT:  ^[[DONE]](%rd: i64):
// CHECK-NEXT:    llvm.return %rd : i64

// An execute_region's blocks join the function; all its yields meet.
llvm.func @region(%ce: i1) -> i32 {
  %re = scf.execute_region -> (i32) {
    cf.cond_br %ce, ^x, ^y
  ^x:
    %ae = arith.constant 1 : i32
    scf.yield %ae : i32
  ^y:
    %be = arith.constant 2 : i32
    scf.yield %be : i32
  }
  llvm.return %re : i32
}
// CHECK-LABEL: llvm.func @region
// CHECK-NEXT:    cf.br ^[[ENTRY:.*]]{{$}}
// CHECK-NEXT:  ^[[ENTRY]]:
// CHECK-NEXT:    cf.cond_br %ce, ^x, ^y
// CHECK:         cf.br ^[[JOIN:.*]](%ae : i32)
// CHECK:         cf.br ^[[JOIN]](%be : i32)
// CHECK-NEXT:  ^[[JOIN]](%re: i32):
// CHECK-NEXT:    llvm.return %re : i32

// An index_switch becomes cf.switch on i64.
llvm.func @switch(%nf: i64) -> i32 {
  %if = arith.index_cast %nf : i64 to index
  %rf = scf.index_switch %if -> i32
  case 4 {
    %af = arith.constant 1 : i32
    scf.yield %af : i32
  }
  default {
    %bf = arith.constant 2 : i32
    scf.yield %bf : i32
  }
  llvm.return %rf : i32
}
// CHECK-LABEL: llvm.func @switch
// CHECK:         %[[FLAG:.*]] = arith.index_cast %if : index to i64
// CHECK-NEXT:    cf.switch %[[FLAG]] : i64, [
// CHECK-NEXT:    default: ^[[DEFAULT:.*]],
// CHECK-NEXT:      4: ^[[CASE:.*]]
// CHECK:       ^[[DEFAULT]]:
// CHECK-NEXT:    %bf = arith.constant 2
// CHECK:       ^[[CASE]]:
// CHECK-NEXT:    %af = arith.constant 1
