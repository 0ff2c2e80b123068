export type { Adapter, Device, DeviceStorage, OpenConsent, SeenState } from './adapter.js';
export { type ConformanceCase, conformance } from './conformance.js';
export { installPage } from './page.js';
export { type SameOptions, sameAs } from './same-as.js';
export { ConformanceError } from './visit.js';
