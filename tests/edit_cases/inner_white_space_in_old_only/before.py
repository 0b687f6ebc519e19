def run(jobs):
    for job in jobs.values():
        log("started", job)
    return jobs
