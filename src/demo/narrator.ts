import { SingleBar } from 'cli-progress';

/** Writes the steps of the demonstration and what they prove; progress bars on a terminal only. */
export interface Narrator {
  step(title: string): void;
  say(text: string): void;
  progress(total: number): { advance(by: number): void; done(): void };
}

export function createNarrator(output: NodeJS.WriteStream): Narrator {
  let number = 0;
  return {
    step: (title) => {
      number += 1;
      output.write(`\n${number}. ${title}\n`);
    },
    say: (text) => {
      output.write(`   ${text}\n`);
    },
    progress: (total) => {
      if (!output.isTTY) return { advance: () => undefined, done: () => undefined };
      const bar = new SingleBar({ format: '   {bar} {value}/{total}', clearOnComplete: true, stream: output });
      bar.start(total, 0);
      return { advance: (by) => bar.increment(by), done: () => bar.stop() };
    },
  };
}
