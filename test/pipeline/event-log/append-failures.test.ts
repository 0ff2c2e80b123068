import {
  AccessDeniedError,
  DeadlineExceededError,
  MaxAppendSizeExceededError,
  StreamDeletedError,
  UnavailableError,
  UnknownError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import {
  AppendOutcomeUnknown,
  AppendRefused,
  AppendTooLarge,
  EventLogUnavailable,
  RevisionConflict,
} from '../../../src/pipeline/event-log/errors.js';
import { appendFailure as eventStoreDbFailure } from '../../../src/pipeline/event-log/eventstoredb/append-errors.js';
import { appendFailure as postgresFailure } from '../../../src/pipeline/event-log/postgres/postgres-event-log.js';
import { DeadlinePassed } from '../../../src/platform/background/waiting.js';

const noConnection = Object.assign(new Error('14 UNAVAILABLE: No connection established. Last error: ECONNREFUSED'), {
  code: 14,
});

describe('a failed append to EventStoreDB', () => {
  it('is a conflict with the revision of the stream, even if the message is empty', () => {
    const at = (current: bigint | 'no_stream') =>
      eventStoreDbFailure(new WrongExpectedVersionError(undefined, { streamName: 's', current, expected: 4n }), 's', 4);
    expect(at(7n)).toBeInstanceOf(RevisionConflict);
    expect(at(7n)).toMatchObject({ expectedRevision: 4, actualRevision: 7 });
    expect(at('no_stream')).toMatchObject({ actualRevision: -1 });
  });

  it.each([
    ['no connection was made', noConnection, EventLogUnavailable],
    ['no node was found', new Error('Failed to discover after 10 attempts.'), EventLogUnavailable],
    ['access is denied', new AccessDeniedError(), EventLogUnavailable],
    ['the server accepts fewer bytes', MaxAppendSizeExceededError.fromMaxAppendSize(1_000), AppendTooLarge],
    ['the stream was deleted', StreamDeletedError.fromStreamName('s'), AppendRefused],
    ['the connection dropped', new UnavailableError(), AppendOutcomeUnknown],
    ['the deadline passed at the server', new DeadlineExceededError(), AppendOutcomeUnknown],
    ['the deadline passed here', new DeadlinePassed(10), AppendOutcomeUnknown],
    ['the server gives no reason', new UnknownError(), AppendOutcomeUnknown],
    ['the error is unknown', new Error('something'), AppendOutcomeUnknown],
    ['the failure is not an Error', 'text', AppendOutcomeUnknown],
  ])('where %s', (_, error, expected) => {
    expect(eventStoreDbFailure(error, 's', 4)).toBeInstanceOf(expected);
  });
});

describe('a failed append to PostgreSQL', () => {
  const answer = (code: string) => Object.assign(new pg.DatabaseError('answer', 6, 'error'), { code });

  it.each([
    ['an id is in the log', answer('23505'), AppendRefused],
    ['the lock wait timed out', answer('55P03'), EventLogUnavailable],
    ['the disk is full', answer('53100'), EventLogUnavailable],
    ['the server became read-only', answer('25006'), EventLogUnavailable],
    ['the right to append is missing', answer('42501'), EventLogUnavailable],
    ['the server shuts down', answer('57P01'), AppendOutcomeUnknown],
    ['another process crashed the server', answer('57P02'), AppendOutcomeUnknown],
    ['the connection failed at the server', answer('08006'), AppendOutcomeUnknown],
    ['the connection was lost', new Error('Connection terminated unexpectedly'), AppendOutcomeUnknown],
    ['the deadline passed', new DeadlinePassed(10), AppendOutcomeUnknown],
  ])('where %s', (_, error, expected) => {
    expect(postgresFailure(error)).toBeInstanceOf(expected);
  });
});
