import { describe, expect, it } from 'vitest';
import { RevisionGap } from '../../../src/pipeline/event-log/errors.js';
import { assertContinuous, Continuity } from '../../../src/pipeline/event-log/event-checks.js';

describe('a reader of the whole log', () => {
  it('says how many events a stream lacks, and what brings them back', () => {
    const continuity = new Continuity(true);
    continuity.check([{ stream: 'policy', revision: 0 }]);
    expect(() => continuity.check([{ stream: 'policy', revision: 3 }])).toThrow(/lacks 2 events, revisions 1 to 2/);
  });

  it('says that another log was put in the place of the one that it followed', () => {
    const continuity = new Continuity(true);
    continuity.check([0, 1, 2].map((revision) => ({ stream: 'ledger', revision })));
    expect(() => continuity.check([{ stream: 'ledger', revision: 0 }])).toThrow(
      /goes on with revision 0, which was read before, instead of revision 3: another log/,
    );
  });
});

describe('a reader of one stream', () => {
  const event = (revision: number) => ({
    id: `event-${revision}`,
    type: 'Data.v1',
    stream: 'policy',
    revision,
    data: new Uint8Array(0),
    metadata: new Uint8Array(0),
  });

  it.each([
    ['its first event', [1]],
    ['one in the middle', [0, 2]],
  ])('that lacks %s gets no page', (_, revisions) => {
    expect(() => assertContinuous('policy', 0, revisions.map(event))).toThrow(RevisionGap);
  });

  it('that lacks nothing gets its page', () => {
    expect(() => assertContinuous('policy', 3, [3, 4].map(event))).not.toThrow();
  });
});
