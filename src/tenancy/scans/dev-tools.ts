import type { Readable, Writable } from 'node:stream';
import * as z from 'zod';
import type { Faults } from './faults.js';
import { LIMITS } from './limits.js';
import { ScanFailed } from './visit.js';

const Message = z.looseObject({
  id: z.int().optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
  sessionId: z.string().optional(),
});
type Message = z.infer<typeof Message>;

interface Waiting {
  readonly resolve: (message: Message) => void;
  readonly reject: (error: Error) => void;
}

/** Receives the events of the browser. */
export type OnEvent = (method: string, params: unknown, session: string | undefined) => void;

/**
 * The DevTools protocol of a browser over a pipe. A page decides about much of what the browser sends:
 * what cannot be read ends it.
 */
export class DevTools {
  /** Resolves when the browser takes no more commands. */
  readonly ended: Promise<false>;
  readonly #waiting = new Map<number, Waiting>();
  #onEnd: (ended: false) => void = () => undefined;
  #ending: string | null = null;
  #lastId = 0;

  constructor(
    private readonly input: Writable,
    output: Readable,
    onEvent: OnEvent,
    faults: Faults,
  ) {
    this.ended = new Promise((resolve) => {
      this.#onEnd = resolve;
    });
    // A pipe to a browser that has ended fails by its end.
    for (const pipe of [input, output]) pipe.on('error', () => undefined);
    const read = createMessageReader((message) => this.#take(message, onEvent));
    output.on(
      'data',
      faults.guard(
        (piece: Buffer) => read(piece),
        () => this.end('The browser sent what cannot be read.'),
      ),
    );
  }

  /**
   * Sends a command and parses its result.
   * @throws ScanFailed for a command that failed, and if the browser ends
   */
  async send<T>(method: string, params: object, result: z.ZodType<T>, sessionId?: string): Promise<T> {
    if (this.#ending !== null) throw new ScanFailed(this.#ending);
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<Message>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const { error, result: value } = await answer;
    if (error !== undefined) throw new ScanFailed(`The browser refused ${method}: ${error.message.slice(0, 500)}`);
    const parsed = result.safeParse(value);
    if (!parsed.success) throw new ScanFailed(`The browser answered ${method} by what cannot be read.`);
    return parsed.data;
  }

  /** Lets every command fail, those in progress and later ones. @param reason for the user */
  end(reason: string): void {
    this.#ending ??= reason;
    for (const { reject } of this.#waiting.values()) reject(new ScanFailed(this.#ending));
    this.#waiting.clear();
    this.#onEnd(false);
  }

  #take(message: Message, onEvent: OnEvent): void {
    if (this.#ending !== null) return;
    const { id, method, params, sessionId } = message;
    if (id !== undefined) {
      this.#waiting.get(id)?.resolve(message);
      this.#waiting.delete(id);
    } else if (method !== undefined) onEvent(method, params, sessionId);
  }
}

/**
 * Reads messages in JSON, each ended by a zero byte. The pieces of a message are joined once it is whole,
 * so that a long one costs no more than its length.
 * @returns takes the next bytes. @throws Error for a message that is too long, or is none
 */
export function createMessageReader(onMessage: (message: Message) => void): (piece: Buffer) => void {
  let pieces: Buffer[] = [];
  let bytes = 0;
  const keep = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > LIMITS.messageBytes) throw new Error('a message of the browser is too long');
    pieces.push(piece);
  };
  return (piece) => {
    let start = 0;
    for (let end = piece.indexOf(0); end !== -1; end = piece.indexOf(0, start)) {
      keep(piece.subarray(start, end));
      const text = Buffer.concat(pieces, bytes).toString('utf8');
      pieces = [];
      bytes = 0;
      start = end + 1;
      onMessage(Message.parse(JSON.parse(text)));
    }
    keep(piece.subarray(start));
  };
}
