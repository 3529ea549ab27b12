/*
 * Of encode/ alone: the ids of pieces whose ends are known (pieces.c).
 */
#ifndef TIK_PIECES_H
#define TIK_PIECES_H

#include "encode/encode.h"

/*
 * The ids of consecutive pieces that end at ends[0 .. count) after `text`; the first begins at `start`.
 * `room` bytes may be read from `text` on, and must stay as they are until tik_encoder_pieces_settle: some ids
 * come only then.
 */
tik_status tik_encoder_pieces(tik_encoder *encoder, const uint8_t *text, size_t room, size_t start,
                              const uint32_t *ends, size_t count, tik_sink *sink, tik_error *error);

/* The ids of the pieces that still wait, put in where they belong. To be called after a failure too. */
tik_status tik_encoder_pieces_settle(tik_encoder *encoder, tik_sink *sink, tik_error *error);

/* A piece of any length, in no need of the memo. */
tik_status tik_encoder_pieces_long(tik_encoder *encoder, const uint8_t *piece, size_t length, tik_sink *sink,
                                   tik_error *error);

#endif
