"""Five hundred tools like those of real servers, and queries for them."""

import re
from functools import cache

from tejat.core.messages.types import JsonObject, Params
from tejat.core.tools.base import BaseTool, ToolContext, ToolResult
from tejat.tools.registry import ToolEntry, ToolRegistry, entry_for

# name(parameters): description
TOOL_LISTS = {
    "github": """
create_issue(owner, repo, title, body, labels): Create a new issue in a GitHub repository.
get_issue(owner, repo, issue_number): Get details of a specific issue in a GitHub repository.
list_issues(owner, repo, state, labels): List issues in a GitHub repository with filtering options.
update_issue(owner, repo, issue_number, title, state): Update an existing issue in a GitHub repository.
add_issue_comment(owner, repo, issue_number, body): Add a comment to a specific issue.
search_issues(q, sort): Search for issues and pull requests across GitHub repositories.
lock_issue(owner, repo, issue_number): Lock the conversation of an issue.
create_pull_request(owner, repo, title, head, base): Create a new pull request.
get_pull_request(owner, repo, pull_number): Get details of a specific pull request.
list_pull_requests(owner, repo, state): List and filter pull requests of a repository.
merge_pull_request(owner, repo, pull_number, merge_method): Merge a pull request.
get_pull_request_files(owner, repo, pull_number): Get the list of files changed in a pull request.
get_pull_request_status(owner, repo, pull_number): Get the combined status of all status checks for a pull request.
get_pull_request_diff(owner, repo, pull_number): Get the diff of a pull request.
create_pull_request_review(owner, repo, pull_number, body, event): Create a review on a pull request.
request_reviewers(owner, repo, pull_number, reviewers): Ask people to review a pull request.
update_pull_request_branch(owner, repo, pull_number): Bring the branch of a pull request up to date with its base.
create_repository(name, description, private): Create a new repository in your account.
fork_repository(owner, repo, organization): Fork a repository to your account or to an organization.
search_repositories(query, page): Search for GitHub repositories.
get_file_contents(owner, repo, path, branch): Get the contents of a file or directory from a repository.
create_or_update_file(owner, repo, path, content, message): Create or update a single file in a repository.
push_files(owner, repo, branch, files, message): Push multiple files to a repository in a single commit.
create_branch(owner, repo, branch, from_branch): Create a new branch in a repository.
list_branches(owner, repo): List the branches of a repository.
list_commits(owner, repo, sha): Get the list of commits of a branch.
get_commit(owner, repo, sha): Get a commit with its changes.
search_code(q): Search for code across GitHub repositories.
search_users(q): Search for users on GitHub.
get_me(): Get details of the authenticated user.
list_releases(owner, repo): List the releases of a repository.
create_release(owner, repo, tag_name, body): Publish a release for a tag.
list_tags(owner, repo): List the git tags of a repository.
list_workflows(owner, repo): List the Actions workflows of a repository.
run_workflow(owner, repo, workflow_id, ref): Trigger an Actions workflow by hand.
list_workflow_runs(owner, repo, workflow_id): List the runs of a workflow.
get_workflow_run_logs(owner, repo, run_id): Download the logs of a workflow run.
rerun_failed_jobs(owner, repo, run_id): Run the failed jobs of a workflow run again.
cancel_workflow_run(owner, repo, run_id): Cancel a workflow run that is in progress.
list_code_scanning_alerts(owner, repo): List the code scanning alerts of a repository.
list_dependabot_alerts(owner, repo): List alerts about vulnerable dependencies.
list_secret_scanning_alerts(owner, repo): List secrets that were found in the code of a repository.
list_notifications(all): List the notifications of the authenticated user.
mark_notifications_read(last_read_at): Mark notifications as read.
star_repository(owner, repo): Star a repository.
create_gist(files, description, public): Create a gist from some files.
list_collaborators(owner, repo): List who can push to a repository.
add_label(owner, repo, issue_number, label): Put a label on an issue or a pull request.
""",
    "slack": """
send_message(channel_id, text): Post a message to a Slack channel or to a person.
reply_to_thread(channel_id, thread_ts, text): Reply to a specific message thread in Slack.
schedule_message(channel_id, text, post_at): Schedule a message to be sent later.
update_message(channel_id, ts, text): Edit a message that was posted.
delete_message(channel_id, ts): Delete a message.
add_reaction(channel_id, timestamp, reaction): Add an emoji reaction to a message.
get_channel_history(channel_id, limit): Get recent messages from a channel.
get_thread_replies(channel_id, thread_ts): Get all replies in a message thread.
list_channels(limit, cursor): List the public channels of the workspace.
create_channel(name, is_private): Create a channel.
archive_channel(channel_id): Archive a channel that is not in use any more.
invite_to_channel(channel_id, users): Invite people to a channel.
set_channel_topic(channel_id, topic): Set the topic of a channel.
get_users(limit, cursor): Get a list of all users in the workspace with their basic profile.
get_user_profile(user_id): Get detailed profile information for a specific user.
lookup_user_by_email(email): Find the user who has an e-mail address.
set_status(status_text, status_emoji): Set your status text and emoji.
search_messages(query, count): Search messages of the workspace.
upload_file(channels, content, filename): Upload a file to a channel.
list_files(channel, user): List files that were shared.
pin_message(channel_id, timestamp): Pin a message in a channel.
create_reminder(text, time): Set a reminder.
list_usergroups(): List the user groups of the workspace.
""",
    "jira": """
create_issue(project_key, summary, issue_type, description): Create a Jira issue such as a story, task or bug.
get_issue(issue_key): Get a Jira issue with its fields, comments and links.
update_issue(issue_key, fields): Change fields of a Jira issue.
delete_issue(issue_key): Delete a Jira issue and its subtasks.
assign_issue(issue_key, account_id): Assign a Jira issue to somebody.
transition_issue(issue_key, transition_id): Move a Jira issue to another status of its workflow.
get_transitions(issue_key): Get the status transitions that are possible for an issue.
add_comment(issue_key, comment): Add a comment to a Jira issue.
add_worklog(issue_key, time_spent): Log time that was spent on an issue.
get_worklog(issue_key): Get the time logged on an issue.
link_issues(inward_issue, outward_issue, link_type): Link two issues, for example as blocking or duplicate.
search_issues_jql(jql, fields, limit): Search Jira issues using JQL (Jira Query Language).
get_agile_boards(project_key, board_type): Get agile boards by name, project or type.
get_board_issues(board_id, jql): Get the issues that are on a board.
get_sprints(board_id, state): Get the sprints of a board.
get_sprint_issues(sprint_id): Get the issues of a sprint.
create_sprint(board_id, name, start_date, end_date): Create a sprint on a board.
update_sprint(sprint_id, state, name): Start, close or rename a sprint.
move_to_backlog(issue_keys): Move issues back to the backlog.
list_projects(): List the Jira projects that you can see.
get_project_versions(project_key): Get the fix versions of a project.
create_version(project_key, name, release_date): Create a fix version in a project.
list_fields(keyword): Look up custom and system fields.
add_watcher(issue_key, account_id): Let somebody watch an issue.
download_attachments(issue_key, target_dir): Download the attachments of an issue.
get_epic_issues(epic_key): Get the issues that belong to an epic.
create_subtask(parent_key, summary): Create a subtask below an issue.
get_user_profile(identifier): Get the profile of a Jira user.
""",
    "postgres": """
query(sql): Run a read-only SQL query against the database.
execute(sql, parameters): Execute an SQL statement that changes data.
list_schemas(): List all schemas in the database.
list_tables(schema): List the tables, views and sequences of a schema.
describe_table(table, schema): Show the columns, types, keys and indexes of a table.
explain_query(sql, analyze): Show the execution plan of a query and what it costs.
analyze_indexes(table): Recommend indexes for the workload of a table.
create_index(table, columns, unique): Create an index on a table.
list_indexes(table): List the indexes of a table and how often each is used.
get_slow_queries(limit, minimum_ms): Report the slowest queries from pg_stat_statements.
get_locks(): Show which sessions wait for locks and who holds them.
get_active_connections(): Show who is connected to the database and what they run.
terminate_backend(pid): End a session of the database.
get_table_size(table): Tell how much disk space a table and its indexes take.
vacuum_table(table, full): Vacuum and analyze a table.
check_database_health(): Check buffer cache, connections, vacuum, replication and constraints.
get_replication_status(): Show the lag of every replica.
backup_database(path): Dump the database into a file.
list_extensions(): List installed and available extensions.
list_roles(): List the roles of the database and their privileges.
""",
    "filesystem": """
read_text_file(path, head, tail): Read the complete contents of a file from the file system as text.
read_media_file(path): Read an image or audio file as base64 data.
read_multiple_files(paths): Read the contents of multiple files simultaneously.
write_file(path, content): Create a new file or completely overwrite an existing file with new content.
edit_file(path, edits, dryRun): Make line-based edits to a text file.
create_directory(path): Create a new directory or ensure that a directory exists.
list_directory(path): Get a detailed listing of all files and directories in a path.
list_directory_with_sizes(path, sortBy): List a directory with the sizes of its files.
directory_tree(path): Get a recursive tree view of files and directories as JSON.
move_file(source, destination): Move or rename files and directories.
search_files(path, pattern, excludePatterns): Recursively search for files and directories matching a pattern.
get_file_info(path): Retrieve metadata about a file: size, times, permissions, type.
list_allowed_directories(): Return the directories that this server may access.
""",
    "browser": """
navigate(url): Navigate the browser to a URL.
navigate_back(): Go back to the previous page.
click(element, ref, button): Perform a click on a web page.
type(element, ref, text, submit): Type text into an editable element.
fill_form(fields): Fill several fields of a form at once.
select_option(element, ref, values): Select an option in a dropdown.
hover(element, ref): Hover over an element of the page.
drag(startElement, endElement): Drag and drop between two elements.
press_key(key): Press a key on the keyboard.
take_screenshot(filename, fullPage): Take a screenshot of the current page.
snapshot(): Capture the accessibility snapshot of the current page.
evaluate(function): Evaluate a JavaScript expression on the page.
console_messages(onlyErrors): Return all console messages of the page.
network_requests(): Return all network requests since the page was loaded.
wait_for(text, time): Wait for text to appear or disappear, or for some time to pass.
file_upload(paths): Upload one or several files through a file chooser.
handle_dialog(accept, promptText): Accept or dismiss an alert, confirm or prompt dialog.
tabs(action, index): List, open, select or close a browser tab.
resize(width, height): Resize the window of the browser.
pdf_save(filename): Save the page as PDF.
close(): Close the browser.
get_cookies(domain): Get the cookies of a site.
set_geolocation(latitude, longitude): Pretend that the browser is at another place.
""",
    "calendar": """
list_calendars(): List all calendars of the account.
list_events(calendarId, timeMin, timeMax): List events of a calendar within a time range.
search_events(query, timeMin, timeMax): Search events by text.
get_event(eventId): Get one event with its attendees.
create_event(summary, start, end, attendees, location): Create an event and invite attendees.
update_event(eventId, start, end, summary): Change the time or the details of an event.
delete_event(eventId): Delete an event and tell its attendees.
respond_to_event(eventId, response): Accept, decline or tentatively accept an invitation.
get_freebusy(timeMin, timeMax, calendars): Query when people are free or busy.
suggest_meeting_times(attendees, duration): Suggest times at which all attendees are available.
get_current_time(timeZone): Get the current time and time zone.
list_colors(): List the colors that events can have.
create_calendar(summary): Create another calendar.
share_calendar(calendarId, email, role): Give somebody access to a calendar.
add_video_conference(eventId): Add a link for a video call to an event.
set_out_of_office(start, end, message): Decline meetings automatically while you are away.
""",
    "kubernetes": """
get_pods(namespace, labelSelector): List the pods of a namespace.
describe_pod(name, namespace): Describe a pod with its containers, conditions and recent events.
get_pod_logs(name, namespace, container, tail): Get the logs of a pod.
delete_pod(name, namespace): Delete a pod, so that its controller starts another.
exec_in_pod(name, namespace, command): Execute a command in a container of a pod.
port_forward(name, localPort, remotePort): Forward a local port to a pod.
get_deployments(namespace): List deployments and their ready replicas.
scale_deployment(name, namespace, replicas): Scale a deployment to a number of replicas.
rollout_restart(name, namespace): Restart the pods of a deployment one after the other.
rollout_undo(name, namespace, revision): Roll a deployment back to an earlier revision.
rollout_status(name, namespace): Watch a rollout until it is done.
set_image(name, container, image): Change the image of a container in a deployment.
apply_manifest(manifest, dryRun): Apply a YAML manifest to the cluster.
delete_resource(kind, name, namespace): Delete a resource from the cluster.
get_services(namespace): List the services of a namespace.
get_ingresses(namespace): List the ingresses and their hosts.
get_configmap(name, namespace): Get the content of a config map.
get_secrets(namespace): List the secrets of a namespace without their values.
get_namespaces(): List the namespaces of the cluster.
create_namespace(name): Create a namespace.
get_nodes(): List the nodes of the cluster and their state.
cordon_node(name): Mark a node as not schedulable.
drain_node(name): Evict all pods from a node before maintenance.
top_pods(namespace): Show the CPU and memory usage of pods.
top_nodes(): Show the CPU and memory usage of nodes.
get_events(namespace): List recent events of the cluster, the newest first.
get_cronjobs(namespace): List cron jobs and when they last ran.
trigger_cronjob(name, namespace): Start a job of a cron job now.
get_persistent_volumes(): List persistent volumes and what claims them.
install_helm_chart(name, chart, values): Install a Helm chart.
upgrade_helm_chart(name, chart, values): Upgrade a Helm release.
uninstall_helm_chart(name): Remove a Helm release.
list_contexts(): List the contexts of the kubeconfig.
use_context(context): Switch to another cluster.
""",
    "gmail": """
search_emails(query, maxResults): Search e-mails with the syntax of Gmail.
read_email(messageId): Read the content of one e-mail.
send_email(to, subject, body, cc): Send a new e-mail.
draft_email(to, subject, body): Write a draft without sending it.
reply_to_email(messageId, body): Answer an e-mail in its thread.
forward_email(messageId, to): Forward an e-mail to somebody else.
delete_email(messageId): Delete an e-mail for ever.
archive_email(messageId): Take an e-mail out of the inbox.
mark_as_read(messageIds): Mark e-mails as read.
modify_labels(messageId, addLabels, removeLabels): Change the labels of an e-mail.
list_labels(): List all labels of the mailbox.
create_label(name): Create a label.
create_filter(criteria, action): Create a filter for incoming mail.
download_attachment(messageId, attachmentId): Download an attachment of an e-mail.
get_thread(threadId): Get all e-mails of a conversation.
unsubscribe(messageId): Unsubscribe from a mailing list.
set_vacation_reply(message, start, end): Answer automatically while on vacation.
""",
    "docker": """
list_containers(all): List containers, running or stopped.
run_container(image, command, ports, volumes): Create a container from an image and start it.
stop_container(id): Stop a running container.
restart_container(id): Restart a container.
remove_container(id, force): Remove a container.
container_logs(id, tail): Get the logs of a container.
container_stats(id): Show CPU, memory and network use of a container.
exec_container(id, command): Run a command inside a running container.
inspect_container(id): Show the whole configuration of a container.
list_images(): List the images on this machine.
pull_image(name, tag): Pull an image from a registry.
push_image(name, tag): Push an image to a registry.
build_image(context, dockerfile, tag): Build an image from a Dockerfile.
remove_image(id): Remove an image.
prune_system(volumes): Remove everything that is not used, to free disk space.
list_networks(): List networks.
create_network(name, driver): Create a network.
list_volumes(): List volumes.
create_volume(name): Create a volume.
remove_volume(name): Remove a volume.
compose_up(file, services): Start the services of a compose file.
compose_down(file): Stop the services of a compose file and remove them.
""",
    "sentry": """
list_organizations(): List the organizations that you belong to.
list_projects(organization): List the projects of an organization.
list_issues(organization, query, sort): List grouped errors, the most frequent first.
get_issue_details(issueId): Get an error with its stack trace and the latest event.
search_events(query, dataset): Count or list events by natural language.
resolve_issue(issueId): Mark an error as resolved.
ignore_issue(issueId): Mute an error.
assign_owner(issueId, owner): Assign an error to a team or a person.
find_releases(project): Find the releases of a project with their crash rates.
get_trace(traceId): Show a distributed trace with its spans.
analyze_with_seer(issueId): Find the root cause of an error by AI and propose a fix.
create_dsn(project): Create a client key for sending events.
create_alert_rule(project, conditions): Alert when an error happens too often.
get_performance_summary(project): Show the slowest transactions of a project.
list_replays(project): List recordings of what users did.
list_teams(organization): List the teams of an organization.
""",
}

# What a server has tools for, with the five usual ones for each.
RESOURCE_KINDS = {
    "stripe": "customer invoice subscription product coupon refund payment_link dispute payout",
    "hubspot": "contact company deal campaign",
    "notion": "page database block",
    "linear": "cycle roadmap milestone",
    "zendesk": "support_ticket macro article",
    "pagerduty": "incident escalation_policy on_call_schedule maintenance_window",
    "datadog": "monitor dashboard downtime",
    "aws": "s3_bucket ec2_instance lambda_function dynamodb_table iam_role",
    "shopify": "order inventory_level discount_code",
    "terraform": "workspace run_plan state_version",
    "figma": "design_file component",
    "airtable": "base grid_record",
    "contentful": "content_entry asset",
    "twilio": "sms phone_number",
}
SIZE = 500

# What somebody asks for, and the tools that would be right.
QUERIES = {
    "open a pull request": "github__create_pull_request",
    "merge PR": "github__merge_pull_request",
    "which files did this pull request change": "github__get_pull_request_files",
    "did the checks of the pull request pass": "github__get_pull_request_status",
    "file a bug on github": "github__create_issue",
    "comment on a github issue": "github__add_issue_comment",
    "search code on github": "github__search_code",
    "make a new branch": "github__create_branch",
    "re-run failed CI jobs": "github__rerun_failed_jobs",
    "get logs of a github actions run": "github__get_workflow_run_logs",
    "vulnerable dependencies": "github__list_dependabot_alerts",
    "ask someone for a code review": "github__request_reviewers github__create_pull_request_review",
    "fork a repo": "github__fork_repository",
    "post a message to a slack channel": "slack__send_message",
    "reply in a slack thread": "slack__reply_to_thread",
    "react with an emoji": "slack__add_reaction",
    "read recent messages of a channel": "slack__get_channel_history",
    "find slack user by email": "slack__lookup_user_by_email",
    "create a private channel in Slack": "slack__create_channel",
    "set my status to away": "slack__set_status",
    "create a jira ticket": "jira__create_issue",
    "search jira with JQL": "jira__search_issues_jql",
    "move ticket to done": "jira__transition_issue",
    "log time spent on an issue": "jira__add_worklog",
    "issues in the current sprint": "jira__get_sprint_issues jira__get_sprints",
    "assign jira issue to a teammate": "jira__assign_issue",
    "run an SQL query": "postgres__query postgres__execute",
    "what columns does the table have": "postgres__describe_table",
    "find slow database queries": "postgres__get_slow_queries",
    "who is blocking whom, locks in the database": "postgres__get_locks",
    "query plan": "postgres__explain_query",
    "disk space used by a table": "postgres__get_table_size",
    "rename a file": "filesystem__move_file",
    "show the directory tree": "filesystem__directory_tree",
    "read several files at once": "filesystem__read_multiple_files",
    "file size and permissions": "filesystem__get_file_info",
    "take a screenshot of the page": "browser__take_screenshot",
    "click the login button": "browser__click",
    "go to a url in the browser": "browser__navigate",
    "fill in a web form": "browser__fill_form",
    "run javascript on the page": "browser__evaluate",
    "javascript console errors": "browser__console_messages",
    "schedule a meeting with attendees": "calendar__create_event calendar__suggest_meeting_times",
    "when are we all free": "calendar__get_freebusy calendar__suggest_meeting_times",
    "decline an invitation": "calendar__respond_to_event",
    "what is on my calendar today": "calendar__list_events",
    "what time is it": "calendar__get_current_time",
    "kubernetes pod logs": "kubernetes__get_pod_logs",
    "restart a deployment": "kubernetes__rollout_restart",
    "scale up replicas": "kubernetes__scale_deployment",
    "roll back to the previous version": "kubernetes__rollout_undo",
    "kubectl apply yaml": "kubernetes__apply_manifest",
    "memory usage of pods": "kubernetes__top_pods",
    "evict pods from node for maintenance": "kubernetes__drain_node",
    "send an email": "gmail__send_email",
    "searching my inbox for mails": "gmail__search_emails",
    "save the attachment of a mail": "gmail__download_attachment",
    "unsubscribe from newsletter": "gmail__unsubscribe",
    "build docker image": "docker__build_image",
    "start compose services": "docker__compose_up",
    "free up disk space of docker": "docker__prune_system",
    "container cpu usage": "docker__container_stats",
    "stack trace of an error in sentry": "sentry__get_issue_details",
    "mark error as resolved": "sentry__resolve_issue",
    "refund a payment": "stripe__create_refund",
    "list unpaid invoices": "stripe__list_invoices",
    "delete a stripe customer": "stripe__delete_customer",
    "add a contact to the CRM": "hubspot__create_contact",
    "create notion page": "notion__create_page",
    "update a row in airtable": "airtable__update_grid_record",
    "list s3 buckets": "aws__list_s3_buckets",
    "delete lambda function": "aws__delete_lambda_function",
    "who is on call": "pagerduty__list_on_call_schedules pagerduty__get_on_call_schedule",
    "text someone by SMS": "twilio__create_sms",
    "datadog dashboards": "datadog__list_dashboards",
    "seeing discount codes of the shop": "shopify__list_discount_codes shopify__get_discount_code",
    "terraform plan": "terraform__create_run_plan",
}


class CatalogueTool(BaseTool):
    def __init__(self, server: str, own_name: str, parameters: list[str], description: str) -> None:
        properties: JsonObject = {
            name: {"type": "string", "description": f"The {name.replace('_', ' ')} that is meant."}
            for name in parameters
        }
        schema: JsonObject = {"type": "object", "properties": properties, "required": parameters[:1]}
        super().__init__(name=f"{server}__{own_name}", description=description, parameter_schema=schema)
        self.server_name = server
        self._own_name = own_name

    @property
    def own_name(self) -> str:
        return self._own_name

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        return ToolResult(self.name)


@cache
def catalogue() -> dict[str, list[ToolEntry]]:
    """The tools by server."""
    servers = {server: list(map(_read, text.strip().splitlines())) for server, text in TOOL_LISTS.items()}
    servers |= {
        server: [tool for kind in kinds.split() for tool in _crud_tools(kind)]
        for server, kinds in RESOURCE_KINDS.items()
    }
    return {server: [entry_for(CatalogueTool(server, *tool)) for tool in tools] for server, tools in servers.items()}


def _read(line: str) -> tuple[str, list[str], str]:
    found = re.fullmatch(r"(\w+)\(([\w, ]*)\): (.+)", line)
    assert found is not None, line
    return found[1], [name for name in found[2].split(", ") if name], found[3]


def _crud_tools(kind: str) -> list[tuple[str, list[str], str]]:
    spoken = kind.replace("_", " ")
    return [
        (f"create_{kind}", ["name", "description", "metadata"], f"Create a new {spoken}."),
        (f"get_{kind}", [f"{kind}_id"], f"Retrieve a {spoken} by its id."),
        (f"list_{kind}s", ["limit", "starting_after", "status"], f"List {spoken}s, optionally only some of them."),
        (f"update_{kind}", [f"{kind}_id", "changes"], f"Change an existing {spoken}."),
        (f"delete_{kind}", [f"{kind}_id"], f"Delete a {spoken}. This cannot be undone."),
    ]


def full_registry() -> ToolRegistry:
    registry = ToolRegistry()
    for server, entries in catalogue().items():
        assert registry.replace_server_tools(server, entries, description=f"Tools for {server}.") == []
    assert len(registry.names()) == SIZE
    return registry
