import type { ConsentSource } from '../../../core/consent.js';

/** The part of a consent that the opt-out uses. The names are public, because each built file shortens its own. */
export type OptOutSource = Pick<ConsentSource, 'state' | 'subscribe' | 'isGpcOn' | 'isOptedOutOfSale' | 'optOutOfSale'>;
