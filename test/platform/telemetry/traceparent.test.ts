import { describe, expect, it } from 'vitest';
import { parseTraceparent } from '../../../src/platform/telemetry/request-spans.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('traceparent', () => {
  it.each([
    [`00-${TRACE}-${SPAN}-01`, 1],
    [`00-${TRACE}-${SPAN}-00`, 0],
    [`00-${TRACE}-${SPAN}-ff`, 1],
    [`cc-${TRACE}-${SPAN}-01-what-the-future-brings`, 1],
  ])('%s', (header, traceFlags) => {
    expect(parseTraceparent(header)).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags });
  });

  it.each([
    ['', undefined],
    ['forbidden version', `ff-${TRACE}-${SPAN}-01`],
    ['more than version 00 has', `00-${TRACE}-${SPAN}-01-x`],
    ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['no span', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['two of them', [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`]],
  ])('ignores a header: %s %s', (_what, header) => {
    expect(parseTraceparent(header)).toBeNull();
  });
});
