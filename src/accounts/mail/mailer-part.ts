import type pg from 'pg';
import { type BackgroundPart, describe, repeat, type ServiceLogger } from '../../platform/background/part.js';
import { LONGEST_WAIT_MS, type Looks } from '../../platform/background/waiting.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import { composeMail } from './compose-mail.js';
import type { Letter, MailJob } from './mail-job.js';
import { type ClaimedMail, claimMail, MAIL_WAITS, type MailCause, type MailKeys, removeMail } from './mail-queue.js';
import { MailRefused, type MailTransport } from './smtp-transport.js';

export interface MailerOptions {
  /** Connections in the role `consent_ledger_admin`. */
  readonly db: pg.Pool;
  readonly keys: MailKeys;
  /** Opens connections to the mail server when the first mail is sent. */
  readonly openTransport: () => MailTransport;
  /** Origin in the links of mails. */
  readonly publicUrl: string;
  /** Handles a request for a new password for an address, within a transaction. */
  readonly onResetRequest: (db: Queryable, email: string, cause: MailCause) => Promise<void>;
  readonly logger: ServiceLogger;
  /** On `db`. */
  readonly looks: Looks;
}

/**
 * Kinds that go before sign-ups, the most urgent first. Anyone can cause sign-up mails, and the others must not wait
 * behind a flood of them.
 */
const URGENT = ['password_reset', 'reset_request', 'notice', 'invitation', 'domain_proof'] as const;
const ALL = [...URGENT, 'sign_up'] as const;
/**
 * The kinds that each concurrent delivery takes. Two of them skip sign-ups, so that a slow mail server cannot make all
 * other mail wait behind them.
 */
const DELIVERIES = [URGENT, URGENT, ALL, ALL, ALL];

/** Sends the queued mails, several at a time. Several workers may run it, because each attempt claims its mail. */
export function createMailer(options: MailerOptions): BackgroundPart {
  const { db, keys, publicUrl, logger } = options;
  const look = options.looks.add(MAIL_WAITS);
  const counts = { sent: 0, failed: 0, dropped: 0 };

  const drop = async ({ id, job }: ClaimedMail, reason: string): Promise<void> => {
    await removeMail(db, id);
    counts.dropped += 1;
    logger.warn({ part: 'mail', mail: id, kind: job?.kind ?? null, reason }, 'a mail was dropped');
  };

  const deliver = async (transport: MailTransport, claimed: ClaimedMail, signal: AbortSignal): Promise<void> => {
    const { id, job, network, isExpired } = claimed;
    if (job === null) return drop(claimed, 'the row was altered');
    if (isExpired) return drop(claimed, 'it waited too long');
    if (job.kind === 'reset_request') {
      return withTransaction(db, async (db) => {
        await options.onResetRequest(db, job.email, { language: job.language, network });
        await removeMail(db, id);
      });
    }
    const letter = job.kind === 'sign_up' && (await hasUser(db, job.to)) ? alreadyUser(job) : job;
    await transport.send(id, composeMail(letter, publicUrl), signal);
    await removeMail(db, id);
    counts.sent += 1;
  };

  /** @returns false if no mail of these kinds was due */
  const next = async (
    transport: MailTransport,
    kinds: readonly MailJob['kind'][],
    signal: AbortSignal,
  ): Promise<boolean> => {
    const claimed = await claimMail(db, keys, kinds);
    if (claimed === null) return false;
    await deliver(transport, claimed, signal).catch(async (error: unknown) => {
      if (error instanceof MailRefused) return drop(claimed, error.message);
      counts.failed += 1;
      logger.warn({ part: 'mail', mail: claimed.id, reason: describe(error) }, 'a mail was not sent; trying again');
    });
    return true;
  };

  return {
    name: 'mail',
    status: () => ({ ...counts }),
    run: async (signal) => {
      const transport = options.openTransport();
      const sending = DELIVERIES.map((kinds) =>
        repeat('mail', logger, signal, async () => {
          if (!(await next(transport, kinds, signal))) await look.wait(LONGEST_WAIT_MS, signal);
          return 0;
        }),
      );
      await Promise.all(sending);
      transport.close();
    },
  };
}

async function hasUser(db: Queryable, email: string): Promise<boolean> {
  const { rowCount } = await db.query('select from users where email = $1', [email.toLowerCase()]);
  return rowCount !== 0;
}

function alreadyUser({ to, language }: Pick<Letter, 'to' | 'language'>): Letter {
  return { kind: 'already_user', to, language };
}
