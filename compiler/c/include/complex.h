/* Refused: see the message. */
#error complex arithmetic (<complex.h>) is not supported; use two real variables
