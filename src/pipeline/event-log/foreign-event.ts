import * as z from 'zod';
import { InvalidEventBody, isSealedEventType, parseBody, sealedContent } from '../../../schemas/events/sealed-event.js';
import type { StreamEvent } from './port.js';

const AnyBody = z.looseObject({});

/**
 * Whether the service cannot have written an event: its body is no JSON object, or not what its type
 * says. An event of an unknown type may be one of a newer release.
 */
export function isForeign(event: StreamEvent): boolean {
  const { type, data } = event;
  try {
    if (isSealedEventType(type)) sealedContent(event);
    else parseBody(AnyBody, type, data);
    return false;
  } catch (error) {
    if (!(error instanceof InvalidEventBody)) throw error;
    return true;
  }
}
