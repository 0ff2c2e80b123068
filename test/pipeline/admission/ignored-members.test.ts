import { expect, it } from 'vitest';
import { ignoredMembers, parseConsents } from '../../../src/pipeline/admission/parse-consents.js';

it('names each member that is ignored, and the known one that was probably meant', () => {
  expect(ignoredMembers({ consent_type: 'cookie', visitorid: 'ann', widget: 1 }, 's2s')).toEqual([
    { field: 'visitorid', message: 'is unknown and was ignored: did you mean visitor_id?' },
    { field: 'widget', message: 'is unknown and was ignored' },
  ]);
});

it('names what only backends can state', () => {
  const stated = { otp_verified: true };
  expect(ignoredMembers(stated, 'browser')).toEqual([
    { field: 'otp_verified', message: 'is read from backends only, and was ignored' },
  ]);
  expect(ignoredMembers(stated, 's2s')).toEqual([]);
});

it('names ten members at most: anyone can sign a body of 100,000 with the key of a page', () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`other_${i}`, 1]));
  expect(ignoredMembers(many, 'browser')).toHaveLength(10);
});

it('names the item of a batch in the path of a value that its schema does not refuse', () => {
  const item = {
    consent_type: 'approval',
    decision: 'accepted',
    document_version_id: '0191d9f2-7c4e-7b5a-8f3d-2a1b3c4d5e6f',
    visitor_id: 'visitor-1',
  };
  const consents = [item, { ...item, presentation_screenshot: 'x' }];
  const errors = [expect.objectContaining({ field: 'consents.1.presentation_screenshot' })];
  expect(() => parseConsents({ consents }, 'batch', 's2s')).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ errors }) }),
  );
});
