def run(jobs):
    for job in jobs.values():
        log(job.name, "started", job)
    return jobs
