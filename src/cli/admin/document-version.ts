import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { DocumentVersion } from '../../../schemas/api/panel/documents.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { versionAudit } from '../../api/panel/documents/audit.js';
import { versionShown } from '../../api/panel/documents/show-versions.js';
import { changeAsOperator } from '../../platform/audit-log/change-as-operator.js';
import type { Queryable } from '../../platform/database/pool.js';
import { activateVersion } from '../../tenancy/documents/activate-version.js';
import { changeDraft, deleteDraft } from '../../tenancy/documents/change-draft.js';
import { contentOf } from '../../tenancy/documents/document-content.js';
import { draftVersion } from '../../tenancy/documents/draft-version.js';
import { readContent } from '../../tenancy/documents/read-content.js';
import { retireVersion } from '../../tenancy/documents/retire-version.js';
import { versionChangeDetails } from '../../tenancy/documents/version-change-details.js';
import { placeOfVersion, siteOfDocument, tenantOfSite } from '../../tenancy/sites/owner-of.js';
import { jsonCommand, uuid } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';
import { type ContentOptions, readContentOption, requireContentOption } from './content-option.js';

interface Json {
  readonly json?: boolean;
}

/**
 * Changes a version, with an audit entry.
 * @param work makes the change, and returns further details for the audit entry
 * @returns the version after the change; for a deletion, the version before it
 */
export function changeVersionAsOperator(
  db: Queryable,
  versionId: string,
  action: string,
  work: (db: Queryable, siteId: string) => Promise<JsonObject>,
): Promise<DocumentVersion> {
  return changeAsOperator(db, async (db) => {
    const { siteId, documentId } = await placeOfVersion(db, versionId);
    const before = await versionShown(db, siteId, documentId, versionId);
    const more = await work(db, siteId);
    const isGone = action === 'document_version.delete';
    const result = isGone ? before : await versionShown(db, siteId, documentId, versionId);
    const tenantId = await tenantOfSite(db, siteId);
    return { result, tenantId, action, ...versionAudit(result, siteId, more) };
  });
}

/** Creates a draft version, with an audit entry. */
export function draftAsOperator(db: Queryable, draft: Parameters<typeof draftVersion>[1]): Promise<DocumentVersion> {
  const { siteId, documentId } = draft;
  return changeAsOperator(db, async (db) => {
    const { id } = await draftVersion(db, draft);
    const result = await versionShown(db, siteId, documentId, id);
    const tenantId = await tenantOfSite(db, siteId);
    return { result, tenantId, action: 'document_version.create', ...versionAudit(result, siteId) };
  });
}

interface DraftOptions extends Json, ContentOptions {
  readonly language: string;
  readonly title: string;
  readonly mediaType: string;
}

/** `admin document draft` */
export function draftCommand(context: CliContext): Command {
  return jsonCommand('draft', 'create a draft of a version of a document')
    .argument('<document>', 'id of the document', uuid)
    .requiredOption('--language <tag>', 'language of the text, e.g. en')
    .requiredOption('--title <title>', 'title of the text')
    .option('--media-type <type>', 'e.g. text/html, application/pdf', 'text/plain')
    .option('--content <text>', 'the text itself')
    .option('--file <path>', 'file with the content')
    .action(async (documentId: string, options: DraftOptions) => {
      const { language, title, mediaType } = options;
      const content = await requireContentOption(options, mediaType);
      await withInstallation(context, async ({ adminPool }) => {
        const siteId = await siteOfDocument(adminPool, documentId);
        const draft = { siteId, documentId, language, title, mediaType, content };
        const version = await draftAsOperator(adminPool, draft);
        print(context, options, version, [
          `Created draft ${version.id}.`,
          `Publish it: consent-ledger admin document publish ${version.id}`,
        ]);
      });
    });
}

interface ChangeOptions extends Json, ContentOptions {
  readonly title?: string;
  readonly mediaType?: string;
}

/** `admin document change-draft` */
export function changeDraftCommand(context: CliContext): Command {
  return jsonCommand('change-draft', 'change the title, media type or content of a draft')
    .argument('<version>', 'id of the version', uuid)
    .option('--title <title>', 'title of the text')
    .option('--media-type <type>', 'e.g. text/html, application/pdf')
    .option('--content <text>', 'the text itself')
    .option('--file <path>', 'file with the content')
    .action(async (id: string, options: ChangeOptions) => {
      await withInstallation(context, async ({ adminPool }) => {
        const { title, mediaType } = options;
        const { siteId, documentId } = await placeOfVersion(adminPool, id);
        const before = await versionShown(adminPool, siteId, documentId, id);
        const content = await readContentOption(options, mediaType ?? before.media_type);
        const version = await changeVersionAsOperator(adminPool, id, 'document_version.change', async (db) => {
          const { changed, replaced } = await changeDraft(db, siteId, id, { title, mediaType, content });
          return { changed: [...changed], replaced_content_sha256: replaced };
        });
        print(context, options, version, [`Changed draft ${id}.`]);
      });
    });
}

/** `admin document delete-draft` */
export function deleteDraftCommand(context: CliContext): Command {
  return jsonCommand('delete-draft', 'delete a draft')
    .argument('<version>', 'id of the version', uuid)
    .action(async (id: string, options: Json) => {
      await withInstallation(context, async ({ adminPool }) => {
        await changeVersionAsOperator(adminPool, id, 'document_version.delete', async (db, siteId) => {
          await deleteDraft(db, siteId, id);
          return {};
        });
        print(context, options, { id, deleted: true }, [`Deleted draft ${id}.`]);
      });
    });
}

/** `admin document activate` */
export function activateCommand(context: CliContext): Command {
  return jsonCommand('activate', 'activate a published version for its language, and retire the previous one')
    .argument('<version>', 'id of the version', uuid)
    .action(async (id: string, options: Json) => {
      await withInstallation(context, async ({ adminPool }) => {
        let retired: string | null = null;
        await changeVersionAsOperator(adminPool, id, 'document_version.activate', async (db, siteId) => {
          const activated = await activateVersion(db, siteId, id);
          retired = activated.retired;
          return versionChangeDetails(activated);
        });
        const lines = [`Version ${id} is active.`, ...(retired === null ? [] : [`Version ${retired} was retired.`])];
        print(context, options, { id, state: 'active', retired }, lines);
      });
    });
}

/** `admin document retire` */
export function retireCommand(context: CliContext): Command {
  return jsonCommand('retire', 'retire a version: consents can no longer name it')
    .argument('<version>', 'id of the version', uuid)
    .action(async (id: string, options: Json) => {
      await withInstallation(context, async ({ adminPool }) => {
        await changeVersionAsOperator(adminPool, id, 'document_version.retire', async (db, siteId) => {
          return versionChangeDetails(await retireVersion(db, siteId, id));
        });
        print(context, options, { id, state: 'retired' }, [`Version ${id} is retired.`]);
      });
    });
}

/** `admin document content` */
export function contentCommand(context: CliContext): Command {
  return jsonCommand('content', 'write the exact bytes of a version to standard output or to a file')
    .argument('<version>', 'id of the version', uuid)
    .option('--output <path>', 'file to write; must not exist')
    .action(async (id: string, options: Json & { readonly output?: string }) => {
      await withInstallation(context, async ({ adminPool }) => {
        const { siteId, documentId } = await placeOfVersion(adminPool, id);
        const { media_type, content_sha256 } = await versionShown(adminPool, siteId, documentId, id);
        const bytes = await readContent(adminPool, content_sha256);
        const told = { id, media_type, content_sha256, size: bytes.length };
        if (options.output !== undefined) {
          await writeFile(options.output, bytes, { flag: 'wx' });
          print(context, options, { ...told, output: options.output }, [
            `Wrote ${bytes.length} bytes to ${options.output}.`,
          ]);
        } else if (options.json === true)
          print(context, options, { ...told, content: contentOf(media_type, bytes) }, []);
        else context.stdout.write(bytes);
      });
    });
}
