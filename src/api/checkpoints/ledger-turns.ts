import { FairTurns } from '../guards/fair-turns.js';

/**
 * Requests that one process works on at a time, and the time that a place stays empty afterwards, as a multiple of
 * that of the work: the files of the ledger get one processor's share at most.
 */
const AT_A_TIME = 2;
const PAUSE = 1;
/** Requests that wait, and of one address: an auditor asks for 16 files ahead. */
const MAX_WAITING = 500;
const MAX_WAITING_OF_OWNER = 32;

/**
 * Creates the turns of the public files of the ledger, by address. There is no limit by count: an auditor reads a
 * million leaves from one address in less than a day, as long as a leaf takes 40 ms.
 * @param now milliseconds of a monotonic clock
 */
export function ledgerTurns(now: () => number): FairTurns {
  return new FairTurns({
    slots: AT_A_TIME,
    now,
    pause: PAUSE,
    maxWaiting: MAX_WAITING,
    maxOfOwner: MAX_WAITING_OF_OWNER,
  });
}
