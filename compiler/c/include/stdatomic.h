/* Refused: see the message. */
#error C11 atomics (<stdatomic.h>) is not supported; use #pragma acc atomic
