// RUN: not accopt %s -p compress-arrays 2>&1 | filecheck %s
// RUN: not accopt %s -p 'compress-arrays{float=30}' 2>&1 | filecheck %s --check-prefix=OPTION

// A compressed array cannot be read as anything but its numbers.
// CHECK: the compressed array 'a' is accessed as 'i32'
// CHECK: it holds numbers of type 'f64'
// OPTION: compress-arrays: float can be kept in 8 to 21 bits, not 30
llvm.func @punned(%a: !llvm.ptr) {
  %one = arith.constant 1 : i32
  %a_dev = acc.present varPtr(%a : !llvm.ptr) varType(f64) -> !llvm.ptr {accx.packed = !accx.packed<f64, 0, range>, accx.decodes, name = "a"}
  acc.parallel dataOperands(%a_dev : !llvm.ptr) num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%one : i32) {
    %x = llvm.load %a_dev : !llvm.ptr -> i32
    acc.yield
  }
  acc.delete accPtr(%a_dev : !llvm.ptr) {name = "a"}
  llvm.return
}
