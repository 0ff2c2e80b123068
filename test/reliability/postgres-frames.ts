// The messages of the PostgreSQL protocol (version 3.0, “Message Formats”), as far as a fault needs them.

/** A statement on its way to the server, or the COMMIT of a transaction. */
export interface Statement {
  readonly text: string;
  /** The parameters as sent, byte by byte as Latin-1. */
  readonly parameters: string;
}

export interface Write extends Statement {
  /** Earlier statements of its transaction. */
  readonly before: readonly Statement[];
}

const READY = 'Z'.charCodeAt(0);

/** Splits what a client sends into whole requests. */
export class FrontendFrames {
  #rest: Buffer = Buffer.alloc(0);
  #isStarted = false;
  #held: Buffer[] = [];
  #text = '';
  #parameters = '';
  readonly #prepared = new Map<string, string>();
  readonly #before: Statement[] = [];

  /** @param forward receives each request; null: it is no statement */
  constructor(private readonly forward: (bytes: Buffer, write: Write | null) => void) {}

  push(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (let message = this.#next(); message !== null; message = this.#next()) this.#take(message);
  }

  /** The server has ended the transaction. */
  endTransaction(): void {
    this.#before.length = 0;
  }

  /** The start-up message has no type. */
  #next(): Buffer | null {
    const lengthAt = this.#isStarted ? 1 : 0;
    if (this.#rest.length < lengthAt + 4) return null;
    const size = lengthAt + this.#rest.readInt32BE(lengthAt);
    if (this.#rest.length < size) return null;
    const message = this.#rest.subarray(0, size);
    this.#rest = this.#rest.subarray(size);
    return message;
  }

  #take(message: Buffer): void {
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.forward(message, null);
      return;
    }
    switch (String.fromCharCode(message[0] ?? 0)) {
      case 'Q':
        this.#text = textAt(message, 5);
        this.#complete(message);
        return;
      case 'P': {
        const name = textAt(message, 5);
        this.#text = textAt(message, 5 + Buffer.byteLength(name) + 1);
        this.#prepared.set(name, this.#text);
        this.#held.push(message);
        return;
      }
      case 'B': {
        const portal = textAt(message, 5);
        const name = textAt(message, 5 + Buffer.byteLength(portal) + 1);
        this.#text = this.#prepared.get(name) ?? this.#text;
        this.#parameters = message.toString('latin1');
        this.#held.push(message);
        return;
      }
      case 'S':
        this.#complete(message);
        return;
      case 'D':
      case 'E':
      case 'C':
        this.#held.push(message);
        return;
      default:
        this.forward(Buffer.concat([...this.#held.splice(0), message]), null);
    }
  }

  #complete(last: Buffer): void {
    const statement = { text: this.#text, parameters: this.#parameters };
    const write = { ...statement, before: [...this.#before] };
    this.#before.push(statement);
    this.#text = '';
    this.#parameters = '';
    this.forward(Buffer.concat([...this.#held.splice(0), last]), write);
  }
}

/** Splits what a server sends into messages. */
export class ServerFrames {
  #rest: Buffer = Buffer.alloc(0);

  /** @param forward receives each message; `isReady`: it ends the answer of a request */
  constructor(private readonly forward: (bytes: Buffer, isReady: boolean) => void) {}

  push(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 5) {
      const size = 1 + this.#rest.readInt32BE(1);
      if (this.#rest.length < size) return;
      const message = this.#rest.subarray(0, size);
      this.#rest = this.#rest.subarray(size);
      this.forward(message, message[0] === READY);
    }
  }
}

function textAt(message: Buffer, from: number): string {
  return message.toString('utf8', from, message.indexOf(0, from));
}
