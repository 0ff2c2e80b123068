// Imported before any schema: the page's policy forbids code from strings, which zod would try to
// create.
import { config } from 'zod/mini';

config({ jitless: true });
