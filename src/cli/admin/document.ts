import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import type pg from 'pg';
import { DOCUMENT_KINDS } from '../../../schemas/events/notices.js';
import { activateVersion } from '../../catalogue/activate-version.js';
import { createDocument, findDocument } from '../../catalogue/create-document.js';
import { isTextMediaType } from '../../catalogue/document-content.js';
import { draftVersion } from '../../catalogue/draft-version.js';
import { siteOfDocument, siteOfVersion } from '../../catalogue/owner-of.js';
import { publishVersion } from '../../catalogue/publish-version.js';
import { retireVersion } from '../../catalogue/retire-version.js';
import { jsonCommand, uuid } from '../command.js';
import { type CliContext, print, withInstallation } from '../context.js';
import { CommandError, EXIT } from '../exit-codes.js';

interface PublishOptions {
  readonly json?: boolean;
  readonly document?: string;
  readonly site?: string;
  readonly slug?: string;
  readonly kind: string;
  readonly requiresApprovalToken?: boolean;
  readonly language: string;
  readonly title: string;
  readonly mediaType: string;
  readonly content?: string;
  readonly file?: string;
}

/** `admin document publish|activate|retire` */
export function documentCommand(context: CliContext): Command {
  const group = new Command('document').description('documents and their versions');
  group.addCommand(publishCommand(context));
  group.addCommand(
    jsonCommand('activate', 'make a published version the active one of its language; retires the one before')
      .argument('<version>', 'id of the version', uuid)
      .action(async (id: string, options: { readonly json?: boolean }) => {
        await withInstallation(context, async ({ adminPool }) => {
          const { retired } = await activateVersion(adminPool, await siteOfVersion(adminPool, id), id);
          const lines = [`Version ${id} is active.`, ...(retired === null ? [] : [`Version ${retired} was retired.`])];
          print(context, options, { id, state: 'active', retired }, lines);
        });
      }),
  );
  group.addCommand(
    jsonCommand('retire', 'end a version: no consent may name it any more')
      .argument('<version>', 'id of the version', uuid)
      .action(async (id: string, options: { readonly json?: boolean }) => {
        await withInstallation(context, async ({ adminPool }) => {
          await retireVersion(adminPool, await siteOfVersion(adminPool, id), id);
          print(context, options, { id, state: 'retired' }, [`Version ${id} is retired.`]);
        });
      }),
  );
  return group;
}

function publishCommand(context: CliContext): Command {
  return jsonCommand('publish', 'publish a text as the next version of a document; it is not active yet')
    .option('--document <id>', 'id of the document', uuid)
    .option('--site <id>', 'with --slug: site of the document', uuid)
    .option('--slug <slug>', 'with --site: name of the document, which is made if it is new')
    .option('--kind <kind>', `of a new document: ${DOCUMENT_KINDS.join(', ')}`, 'other')
    .option('--requires-approval-token', 'of a new document: consents to it need an approval token')
    .requiredOption('--language <tag>', 'language of the text, e.g. en')
    .requiredOption('--title <title>', 'title of the text')
    .option('--media-type <type>', 'e.g. text/html, application/pdf', 'text/plain')
    .option('--content <text>', 'the text itself')
    .option('--file <path>', 'file that holds the content')
    .action(async (options: PublishOptions) => {
      const content = await readContent(options);
      await withInstallation(context, async ({ adminPool }) => {
        const { siteId, documentId } = await documentOf(adminPool, options);
        const { language, title, mediaType } = options;
        const { id } = await draftVersion(adminPool, { siteId, documentId, language, title, mediaType, content });
        const { number } = await publishVersion(adminPool, siteId, id);
        const version = { id, number };
        const result = { ...version, document_id: documentId, site_id: siteId, language, state: 'published' };
        print(context, options, result, [
          `Version ${version.number} (${language}) is published: ${version.id}`,
          `Make it the active one: consent-ledger admin document activate ${version.id}`,
        ]);
      });
    });
}

async function readContent({ content, file, mediaType }: PublishOptions): Promise<string> {
  if ((content === undefined) === (file === undefined)) {
    throw new CommandError('Give the content by either --content or --file.', EXIT.usage);
  }
  if (file === undefined) return content ?? '';
  const bytes = await readFile(file);
  if (!isTextMediaType(mediaType)) return bytes.toString('base64');
  const text = bytes.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(bytes)) throw new CommandError(`${file} is not UTF-8.`);
  return text;
}

async function documentOf(pool: pg.Pool, options: PublishOptions): Promise<{ siteId: string; documentId: string }> {
  const { document, site: siteId, slug } = options;
  if (document !== undefined) return { siteId: await siteOfDocument(pool, document), documentId: document };
  if (siteId === undefined || slug === undefined) {
    throw new CommandError('Name the document by --document, or by --site and --slug.', EXIT.usage);
  }
  const known = await findDocument(pool, siteId, slug);
  if (known !== null) return { siteId, documentId: known.id };
  const kind = DOCUMENT_KINDS.find((one) => one === options.kind);
  if (kind === undefined) throw new CommandError(`--kind must be one of ${DOCUMENT_KINDS.join(', ')}.`, EXIT.usage);
  const requiresApprovalToken = options.requiresApprovalToken === true;
  return { siteId, documentId: (await createDocument(pool, { siteId, slug, kind, requiresApprovalToken })).id };
}
