import {
  AccessDeniedError,
  InvalidArgumentError,
  MaxAppendSizeExceededError,
  NotLeaderError,
  StreamDeletedError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import {
  AppendOutcomeUnknown,
  AppendRefused,
  AppendTooLarge,
  EventLogUnavailable,
  RevisionConflict,
} from '../errors.js';
import { NO_STREAM } from '../port.js';

/**
 * Failures of gRPC and of the client's discovery that occur before a request leaves this process.
 */
const NOT_SENT = /No connection established|Failed to discover|Name resolution failed/;

/**
 * Maps the error of a failed append to the error of the port. "Not written" is returned only for
 * server responses with that meaning and for failed connections, which have no error type. Any
 * other append may have been written.
 */
export function appendFailure(error: unknown, stream: string, expectedRevision: number): Error {
  if (error instanceof WrongExpectedVersionError) {
    const actual = typeof error.actualVersion === 'bigint' ? Number(error.actualVersion) : NO_STREAM;
    return new RevisionConflict(stream, expectedRevision, actual);
  }
  const reason = reasonOf(error);
  if (error instanceof MaxAppendSizeExceededError) {
    return new AppendTooLarge(`the server takes less in one append: ${reason}`, { cause: error });
  }
  if (error instanceof StreamDeletedError) {
    return new AppendRefused(`stream ${stream} was deleted`, { cause: error });
  }
  if (error instanceof InvalidArgumentError) {
    return new AppendRefused(`the server refuses the append: ${reason}`, { cause: error });
  }
  if (error instanceof AccessDeniedError || error instanceof NotLeaderError || NOT_SENT.test(reason)) {
    return new EventLogUnavailable(`the event log cannot be written: ${reason}`, { cause: error });
  }
  return new AppendOutcomeUnknown(`append: ${reason}`, { cause: error });
}

/** Maps the error of any operation other than an append. */
export function unavailable(error: unknown): EventLogUnavailable {
  return new EventLogUnavailable(`the event log does not answer: ${reasonOf(error)}`, { cause: error });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message === '' ? error.name : error.message;
}
