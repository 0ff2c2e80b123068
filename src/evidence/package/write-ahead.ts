import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

/**
 * Writes to a stream, one piece ahead of it: a write returns once the write before it is done. So
 * the caller makes a piece while the stream works on the last one, and two are in memory at most.
 */
export class WriteAhead {
  #last: Promise<void> = Promise.resolve();

  constructor(readonly stream: Writable) {
    // The error is reported by the next write. Without a listener, it would end the process.
    stream.on('error', () => undefined);
  }

  /** @throws the error with which the stream was destroyed, or of the write before */
  async write(piece: Uint8Array): Promise<void> {
    await this.#last;
    this.#last = new Promise((resolve, reject) => {
      this.stream.write(piece, (error) => {
        if (error) reject(this.stream.errored ?? error);
        else resolve();
      });
    });
    this.#last.catch(() => undefined);
  }

  /** Ends the stream. On return it has taken everything. @throws as `write` */
  async end(): Promise<void> {
    await this.#last;
    this.stream.end();
    await finished(this.stream, { readable: false });
  }

  /** Destroys the stream. On return it holds nothing open. */
  async destroy(error: Error): Promise<void> {
    this.stream.destroy(error);
    await finished(this.stream).catch(() => undefined);
  }
}
