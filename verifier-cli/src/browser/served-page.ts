// The page as the service serves it: the verifier, and the look-up beside it.
import './page.js';
import './lookup.js';
import { takeHandedOver } from './handed-over.js';

takeHandedOver();
