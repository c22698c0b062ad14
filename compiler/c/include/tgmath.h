/* Refused: see the message. */
#error type-generic mathematics (<tgmath.h>) is not supported; call the function for the type, such as sqrtf
