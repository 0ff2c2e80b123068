// Imported before any schema: the page's policy forbids code made of strings, and zod would try.
import { config } from 'zod';

config({ jitless: true });
