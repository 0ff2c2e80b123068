// The page as the service serves it: the verifier, and the look-up beside it.
import './jitless.js';
import { takeHandedOver } from './handed-over.js';
import { startLookup } from './lookup.js';
import { startPage } from './page.js';
import { startPublishedTrust } from './published-trust.js';

const page = startPage();
startLookup(page.language, startPublishedTrust(page));
takeHandedOver();
