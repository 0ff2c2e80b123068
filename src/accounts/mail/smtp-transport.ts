import { createTransport } from 'nodemailer';
import { withAnySignal } from '../../platform/background/signals.js';
import type { MailConfig } from '../../platform/config/index.js';
import type { ComposedMail } from './compose-mail.js';
import { MailAddress } from './mail-job.js';

/** Delivers mails to a server. */
export interface MailTransport {
  /**
   * @param id the Message-ID. It is the same for every attempt, so that mail programs show repeated deliveries once
   * @param signal ends the attempt
   * @throws MailRefused if the server permanently refuses this mail; after any other error, try again
   */
  send(id: string, mail: ComposedMail, signal: AbortSignal): Promise<void>;
  /** Ends the connections. Nothing is sent afterwards. */
  close(): void;
}

/** The server will never accept this mail. The message contains no address. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
}

/** An attempt failed. The message contains no address and no text of the server. */
export class MailFailed extends Error {
  override readonly name = 'MailFailed';
}

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
/** Time limit of a whole attempt. It is shorter than the pause before the next attempt. */
const DEADLINE_MS = 45_000;

/** Concurrent connections, and mails per connection: some servers limit both. */
const MAX_CONNECTIONS = 5;
const MAX_MESSAGES = 100;
/** Servers close idle connections. This client closes them first. */
const IDLE_MS = 15_000;

/**
 * Creates the transport to the configured server (RFC 5321), with a bounded number of connections that serve several
 * mails each. Addresses and subject are given as parts, from which the library composes the headers. The address is
 * checked first, because the library would read a second address after a line break.
 */
export function createSmtpTransport({ smtp, from }: MailConfig): MailTransport {
  const mailer = createTransport({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.isTlsFromStart,
    requireTLS: smtp.demandsTls,
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    maxMessages: MAX_MESSAGES,
    idleTimeout: IDLE_MS,
    // The queue tries again.
    maxRequeues: 0,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(smtp.auth !== undefined && { auth: smtp.auth }),
  });
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return {
    send: async (id, { to, subject, text }, signal) => {
      if (!MailAddress.safeParse(to).success) throw new MailRefused('the recipient is not one address');
      const message = {
        from,
        to: { name: '', address: to },
        envelope: { from: from.address, to: [to] },
        subject,
        text,
        textEncoding: 'quoted-printable' as const,
        messageId: `<${id}@${domain}>`,
        // RFC 3834 §5: asks receivers not to send out-of-office replies.
        headers: { 'Auto-Submitted': 'auto-generated' },
      };
      await withAnySignal([signal, AbortSignal.timeout(DEADLINE_MS)], (signal) =>
        mailer.sendMail({ ...message, signal }),
      ).catch((error: unknown) => {
        throw failureOf(error);
      });
    },
    close: () => mailer.close(),
  };
}

/**
 * A failure is permanent if the server answered 5xx to the recipient or to the mail, but not if it did so to the
 * password.
 */
function failureOf(error: unknown): Error {
  const { code, command, responseCode } = detailsOf(error);
  const about = `${code ?? 'failure'} at ${command ?? 'the connection'}, response ${responseCode ?? 'none'}`;
  const isForGood = (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode !== undefined && responseCode >= 500;
  return isForGood ? new MailRefused(about) : new MailFailed(about);
}

interface FailureDetails {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
}

function detailsOf(error: unknown): FailureDetails {
  if (typeof error !== 'object' || error === null) return {};
  return {
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
    ...('command' in error && typeof error.command === 'string' && { command: error.command }),
    ...('responseCode' in error && typeof error.responseCode === 'number' && { responseCode: error.responseCode }),
  };
}
