/* processor.h - what the processors of this machine are. */
#ifndef TOOLS_PROCESSOR_H
#define TOOLS_PROCESSOR_H

enum { PROCESSOR_BYTES = 128 };

/* The model's name, or "unknown" where the system does not tell. */
void processor_model(char out[PROCESSOR_BYTES]);

#endif
