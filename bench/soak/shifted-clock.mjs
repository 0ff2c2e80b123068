// Loaded into the processes of a soak before the program: their clock is ahead by the milliseconds that a
// file states, as after a wrong answer of a time server.
import { readFileSync } from 'node:fs';

const file = process.env.SHIFTED_CLOCK_FILE;
const RealDate = Date;
let ahead = 0;

const look = () => {
  try {
    ahead = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    ahead = 0;
  }
};
if (file !== undefined) {
  look();
  setInterval(look, 100).unref();
  globalThis.Date = class extends RealDate {
    constructor(...args) {
      if (args.length === 0) super(RealDate.now() + ahead);
      else super(...args);
    }

    static now() {
      return RealDate.now() + ahead;
    }
  };
}
